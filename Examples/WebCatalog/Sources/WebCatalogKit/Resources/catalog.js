// Tells the server what the user does in this tab, soon after each change, and shows where the
// user was. Without it the pages can be read, and the forms work.
"use strict";
(() => {
  const tab = document.getElementById("tab");
  if (!tab) return;
  const address = `/tabs/${tab.dataset.tab}`;
  const find = (id) => document.getElementById(id);
  const list = find("list"), side = find("side"), handle = find("handle"), status = find("status");
  const editor = find("editor");
  const fields = ["search", "title", "description"].map(find).filter((field) => field);
  const page = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16)).join("");
  const pause = 150, longestPause = 5000, pauseOfLooking = 1000;
  const firstPauseOfListening = 1000, longestPauseOfListening = 60000;

  let revision = Number(tab.dataset.revision);
  let number = 0;
  let changes = {};  // What no answer says is stored.
  let changeCount = 0;
  let sending = null;
  let timer = 0;
  let failures = 0;
  let isRefused = false;
  let refusal = "";  // Why words that are only in this page will never be stored.
  let isLeaving = false;

  // Where the user was.

  list.style.width = `${tab.dataset.listWidth}px`;
  list.scrollTop = Number(tab.dataset.listScroll);
  side.scrollTop = Number(tab.dataset.detailScroll);
  const text = find("description");
  if (text) text.scrollTop = Number(text.dataset.scroll);
  const focused = find(tab.dataset.focus);
  if (focused) {
    focused.focus({ preventScroll: true });
    focused.setSelectionRange(Number(tab.dataset.start), Number(tab.dataset.end));
  }

  // Telling the server.

  const show = (state, words) => {
    status.dataset.state = state;
    status.textContent = words;
  };

  const note = (change) => {
    Object.assign(changes, change);
    changeCount += 1;
    show("unsaved", "Saving…");
    if (!timer && !sending) timer = setTimeout(send, pause);
  };

  const showWhetherStored = () => {
    if (refusal) show("failed", refusal);
    else if (!Object.keys(changes).length) show("saved", "Saved");
  };

  const message = () => ({
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Form-Token": tab.dataset.token },
    body: JSON.stringify({ page, number: ++number, revision, product: editor?.product.value, ...changes }),
  });

  // Another page has changed the same since this one was shown, which a message that comes late must not undo. This
  // one comes from a user who is here, so it is told once more, and then the page shows what else is new.
  const tell = async () => {
    const answer = await fetch(`${address}/changes`, message());
    if (answer.status !== 412) return answer;
    revision = Math.max(revision, Number((await answer.json()).revision));
    setTimeout(reload);
    return fetch(`${address}/changes`, message());
  };

  // The user has signed out and in again in another window: the page takes the token of that session.
  const renewToken = async () => {
    const token = (await pageNow())?.getElementById("tab")?.dataset.token;
    if (!token || token === tab.dataset.token) return false;
    tab.dataset.token = token;
    for (const field of document.querySelectorAll("input[name=token]")) field.value = token;
    return true;
  };

  // Nothing leaves `changes` before the server says that it is stored.
  const send = () => {
    clearTimeout(timer);
    timer = 0;
    if (sending) return sending;
    if (!Object.keys(changes).length) return Promise.resolve();
    const sent = { ...changes };
    sending = tell().then(async (answer) => {
      const said = await answer.json().catch(() => ({}));
      isRefused = answer.status >= 400 && answer.status < 500 && ![412, 429].includes(answer.status);
      if (answer.status === 403 && await renewToken()) isRefused = false;
      if (answer.status === 409) {
        // The rest can be stored. The words stay in the page for the user to copy.
        refusal = `Not stored: ${said.problem}`;
        isRefused = false;
        delete changes.title;
        delete changes.description;
      }
      if (!answer.ok) throw new Error(said.problem || `the server answers ${answer.status}`);
      revision = Math.max(revision, Number(said.revision));
      for (const key in sent) if (changes[key] === sent[key]) delete changes[key];
      failures = 0;
      if ("search" in sent) await refresh(["list"]).catch(() => {});
      showWhetherStored();
    }).catch((error) => {
      failures += 1;
      show("failed", refusal || `${isRefused ? "Not stored" : "Not stored yet"}: ${error.message}`);
    }).finally(() => {
      sending = null;
      // What is refused would be refused again: the user has signed out, or closed the tab elsewhere.
      if (!Object.keys(changes).length || timer || isRefused) return;
      timer = setTimeout(send, failures ? Math.min(longestPause, pause * 2 ** failures) : pause);
    });
    return sending;
  };

  // Before a link is followed: what was typed must be there first. False if the page must stay, since it is the
  // only place that has it; what is refused would be refused again.
  const flush = async () => {
    await sending;
    await send();
    return isRefused || !Object.keys(changes).length;
  };

  // The page as the server shows it now; nothing if it does not.
  const pageNow = async () => {
    const answer = await fetch(address);
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  };

  // Shows what the server shows now in some parts of the page, with the keyboard where it was.
  const refresh = async (parts) => {
    const now = await pageNow();
    for (const part of parts) {
      const [old, fresh] = [find(part), now?.getElementById(part)];
      if (!old || !fresh) continue;
      const place = focusable(old).indexOf(document.activeElement);
      const target = document.activeElement.getAttribute("href");
      old.replaceChildren(...fresh.childNodes);
      if (place < 0) continue;
      const all = focusable(old);
      const same = all.find((element) => target && element.getAttribute("href") === target);
      (same ?? all[Math.min(place, all.length - 1)])?.focus({ preventScroll: true });
    }
  };
  const focusable = (part) => Array.from(part.querySelectorAll("a[href], button"));

  // What the user does.

  const noteFocus = () => {
    const field = document.activeElement;
    if (!tab.contains(field) || (!told && !fields.includes(field))) return;
    const focus = fields.includes(field)
      ? { field: field.id, start: field.selectionStart, end: field.selectionEnd }
      : { field: "elsewhere", start: 0, end: 0 };
    if (JSON.stringify(focus) !== JSON.stringify(told)) note({ focus: told = focus });
  };
  let told = focused && { field: tab.dataset.focus, start: focused.selectionStart, end: focused.selectionEnd };

  const noteWords = (field) => {
    // The server takes no control characters, which may come with what is pasted.
    const words = field.value.toWellFormed().replace(/[\0-\x08\x0b-\x1f\x7f]/g, " ");
    if (words !== field.value) {
      const [start, end] = [field.selectionStart, field.selectionEnd];
      field.value = words;
      field.setSelectionRange(start, end);
    }
    note({ [field.id]: words });
    noteFocus();
  };
  for (const field of fields) field.addEventListener("input", () => noteWords(field));
  document.addEventListener("focusin", noteFocus);
  document.addEventListener("selectionchange", noteFocus);

  const follow = (element, key) => {
    let last = element.scrollTop;
    element.addEventListener("scroll", () => {
      if (element.scrollTop === last) return;
      last = element.scrollTop;
      note({ [key]: last });
    });
  };
  follow(list, "listScroll");
  follow(side, "detailScroll");
  if (text) follow(text, "editorScroll");

  const [least, most] = [180, () => innerWidth - 200];
  const tellWidth = () => {
    handle.setAttribute("aria-valuemin", least);
    handle.setAttribute("aria-valuemax", most());
    handle.setAttribute("aria-valuenow", list.offsetWidth);
  };
  const resize = (width) => {
    const bounded = Math.max(least, Math.min(width, most()));
    list.style.width = `${bounded}px`;
    tellWidth();
    note({ listWidth: bounded });
  };
  addEventListener("resize", tellWidth);
  tellWidth();
  handle.addEventListener("pointerdown", (press) => {
    handle.setPointerCapture(press.pointerId);
    handle.onpointermove = (move) => resize(move.clientX);
    handle.onpointerup = () => { handle.onpointermove = null; };
  });
  handle.addEventListener("keydown", (key) => {
    const step = { ArrowLeft: -20, ArrowRight: 20 }[key.key];
    if (step) resize(list.offsetWidth + step);
  });

  tab.addEventListener("click", async (click) => {
    const link = click.target.closest("a[href]");
    if (!link || click.button || click.metaKey || click.ctrlKey || click.shiftKey) return;
    click.preventDefault();
    if (await flush()) location.assign(link.href);
  });
  tab.addEventListener("submit", async (submit) => {
    if (submit.target.method === "get") {  // The search, which is told already.
      submit.preventDefault();
      return;
    }
    if (submit.target.dataset.flushed) return;
    submit.preventDefault();
    if (!await flush()) return;
    submit.target.dataset.flushed = "yes";
    // A form cannot be submitted while it tells that it is.
    setTimeout(() => submit.target.requestSubmit(submit.submitter));
  });

  // The browser may end the page without a word after this.
  const leave = () => {
    if (Object.keys(changes).length) fetch(`${address}/changes`, { ...message(), keepalive: true }).catch(() => {});
  };
  addEventListener("beforeunload", () => { isLeaving = true; });
  addEventListener("pagehide", leave);
  document.addEventListener("visibilitychange", () => { if (document.hidden) leave(); });
  addEventListener("pageshow", (shown) => { if (shown.persisted) reload(); });

  // What others do.

  // Nobody has asked for it, so it waits for what is in this page alone.
  const reload = async () => {
    await flush();
    if (!refusal && !Object.keys(changes).length) location.reload(); else setTimeout(reload, longestPause);
  };
  // Somebody may save many times: the page looks at once, and then once a second as long as there is something new.
  let isOutOfDate = false, isLooking = false;
  const showEdits = async () => {
    isOutOfDate = true;
    if (isLooking) return;
    isLooking = true;
    while (isOutOfDate) {
      isOutOfDate = false;
      await refresh(["list", "detail"]).catch(() => {});
      await new Promise((go) => setTimeout(go, pauseOfLooking));
    }
    isLooking = false;
  };
  let pauseOfListening = firstPauseOfListening;
  const listen = () => {
    const events = new EventSource(`${address}/events`);
    events.addEventListener("changed", (event) => {
      const said = JSON.parse(event.data);
      if (isLeaving || said.page === page || Number(said.revision) <= revision) return;
      // Another device has this tab, too. What is not stored yet goes first, and then is there.
      reload();
    });
    events.addEventListener("edited", showEdits);
    events.onopen = () => { pauseOfListening = firstPauseOfListening; };
    // The browser asks again by itself if nobody answers. Here there was an answer without events: maybe the user
    // has signed out or closed the tab elsewhere, or the store is away for a moment.
    events.onerror = () => {
      if (events.readyState !== EventSource.CLOSED) return;
      setTimeout(listen, pauseOfListening);
      pauseOfListening = Math.min(longestPauseOfListening, 2 * pauseOfListening);
    };
  };
  listen();
  // What was typed before this script was there, or what the browser has put back.
  for (const field of fields) if (field.value !== field.defaultValue) noteWords(field);
  showWhetherStored();
})();
