// For the path of a session, which is among what may change and never has.
#define SECRET_API_SUBJECT_TO_CHANGE 1
#include <libsecret/secret.h>
