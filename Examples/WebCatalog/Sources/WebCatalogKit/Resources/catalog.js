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

  // The user has seen this revision of the tab. What others change after it shows when the page is loaded again.
  const revision = Number(tab.dataset.revision);
  let known = revision;  // Up to here, all changes are of this page.
  let seen = {};  // Which revision the user has seen of a field, where that is another one.
  let contested = {};  // Fields that another page has changed since, with its words: only the user can choose.
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

  const isContested = () => Object.keys(contested).length > 0;

  // Nothing moves under the pointer of a user who chooses.
  const show = (state, words) => {
    status.dataset.state = isContested() ? "failed" : state;
    status.textContent = isContested() ? "Not stored: choose below which words count" : words;
  };

  const note = (change) => {
    Object.assign(changes, change);
    changeCount += 1;
    show("unsaved", "Saving…");
    if (!timer && !sending) timer = setTimeout(send, pause);
  };

  const showWhetherStored = () => {
    if (refusal || isContested()) show("failed", refusal);
    else if (!Object.keys(changes).length) show("saved", "Saved");
  };

  const message = () => ({
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Form-Token": tab.dataset.token },
    body: JSON.stringify({ page, number: ++number, revision, seen, product: editor?.product.value, ...changes }),
  });
  const tell = (options) => fetch(`${address}/changes`, { ...message(), ...options });

  // What the server has stored of what was told leaves `changes`.
  const acknowledge = (sent, said) => {
    const refused = said.changed ?? [];
    for (const key in sent) if (changes[key] === sent[key] && !refused.includes(key)) delete changes[key];
    const newest = Number(said.revision);
    if (refused.length || newest > known + 1) setTimeout(reload);  // Others have changed something, too.
    else known = Math.max(known, newest);
  };

  // Another page has changed the same since this one was shown, maybe while this computer slept. Of words the user
  // sees both and chooses; until then neither replaces the other. An offset or a cursor gives way to the newer one.
  const contest = async (keys) => {
    const now = await pageNow();
    if (!now) throw new Error("the server does not show this tab");
    for (const key of keys) {
      const field = fields.find((field) => field.id === key);
      const theirs = now.getElementById(key)?.value;
      if (field && theirs === undefined) continue;  // Nobody edits it any more, as the next answer says.
      delete changes[key];
      if (field) seen[key] = Number(now.getElementById("tab").dataset.revision);
      if (field && theirs !== field.value) contested[key] = theirs;
    }
    remember();
    showContested();
  };

  const showContested = () => {
    find("contested").replaceChildren(...fields.filter(({ id }) => id in contested).map(({ id }) => {
      const notice = find("choice").content.cloneNode(true);
      notice.querySelector("b").textContent = id;
      notice.querySelector(".words").textContent = contested[id] || "(none)";
      for (const button of notice.querySelectorAll("button")) {
        button.addEventListener("click", () => choose(id, button.value === "mine"));
      }
      return notice;
    }));
  };

  const choose = (key, isMine) => {
    const field = find(key);
    if (!isMine) field.value = contested[key];
    delete contested[key];
    showContested();
    field.focus();
    if (isMine) noteWords(field);
    showWhetherStored();
    if (!isContested()) reload();
  };

  // If the browser shows this entry of its history again and puts words back, they were typed under this revision.
  const remember = () => history.replaceState({ revision, seen, product: editor?.product.value }, "");

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
      if (!answer.ok && answer.status !== 412) {
        throw new Error(said.problem || `the server answers ${answer.status}`);
      }
      acknowledge(sent, said);
      if (said.changed) await contest(said.changed);
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
    return isRefused || (!Object.keys(changes).length && !isContested());
  };
  // The same, for a user who waits: where words are contested, that is what to do first.
  const flushForUser = async () => {
    const isStored = await flush();
    if (!isStored) find("contested").querySelector("button")?.focus();
    return isStored;
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
      if (!old || !fresh || old.innerHTML === fresh.innerHTML) continue;
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
    if (field.id in contested) return;
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
    if (await flushForUser()) location.assign(link.href);
  });
  tab.addEventListener("submit", async (submit) => {
    if (submit.target.method === "get") {  // The search, which is told already.
      submit.preventDefault();
      return;
    }
    if (submit.target.dataset.flushed) return;
    submit.preventDefault();
    if (!await flushForUser()) return;
    submit.target.dataset.flushed = "yes";
    // A form cannot be submitted while it tells that it is.
    setTimeout(() => submit.target.requestSubmit(submit.submitter));
  });

  // The browser may end the page without a word after this.
  const leave = () => {
    const sent = { ...changes };
    if (!Object.keys(sent).length) return;
    tell({ keepalive: true })
      .then(async (answer) => { if (answer.ok) acknowledge(sent, await answer.json()); }).catch(() => {});
  };
  addEventListener("beforeunload", (leaving) => {
    // The browser asks the user, since no other place has their words.
    if (isContested()) leaving.preventDefault(); else isLeaving = true;
  });
  addEventListener("pagehide", leave);
  document.addEventListener("visibilitychange", () => { if (document.hidden) leave(); });
  addEventListener("pageshow", (shown) => { if (shown.persisted) reload(); });

  // What others do.

  // Nobody has asked for it, so it waits for what is in this page alone.
  let reloading = 0;
  const reload = async () => {
    clearTimeout(reloading);
    if (await flush() && !refusal && !isContested() && !Object.keys(changes).length) return location.reload();
    clearTimeout(reloading);
    reloading = setTimeout(reload, longestPause);
  };
  // Somebody may save many times: the page looks at once, and then once a second as long as there is something new.
  let isOutOfDate = false, isLooking = false;
  const showEdits = async () => {
    isOutOfDate = true;
    if (isLooking) return;
    isLooking = true;
    while (isOutOfDate) {
      isOutOfDate = false;
      // A question stays as the user reads it: the server takes no answer to other words than the newest, and asks again.
      const question = find("meanwhile")?.childElementCount ? [] : ["meanwhile", "finish"];
      await refresh(["list", "detail", ...question]).catch(() => {});
      await new Promise((go) => setTimeout(go, pauseOfLooking));
    }
    isLooking = false;
  };
  let pauseOfListening = firstPauseOfListening;
  let hasListened = false;
  const listen = () => {
    const events = new EventSource(`${address}/events`);
    events.addEventListener("changed", (event) => {
      const said = JSON.parse(event.data);
      if (isLeaving || said.page === page || Number(said.revision) <= known) return;
      // Another device has this tab, too. What is not stored yet goes first, and then is there.
      reload();
    });
    events.addEventListener("edited", showEdits);
    events.onopen = () => {
      pauseOfListening = firstPauseOfListening;
      if (hasListened) showEdits();  // Nobody has told what was saved while nobody was there to tell it.
      hasListened = true;
    };
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
  const before = history.state;
  for (const field of fields) {
    if (field.value === field.defaultValue) continue;
    if (before?.product && field !== find("search") && before.product !== editor?.product.value) {
      field.value = field.defaultValue;  // Words of another product.
      continue;
    }
    if (before) seen[field.id] = before.seen?.[field.id] ?? before.revision;
    noteWords(field);
  }
  remember();
  showWhetherStored();
})();
