"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const code = location.hash.slice(1);
/* Out of the address before anything else, so that it stays in no history and is never copied with it. */
if (location.hash) history.replaceState(null, "", location.pathname);

function tell(text, isBad) {
  byId("told").textContent = text;
  byId("told").className = isBad ? "bad" : "";
}

async function logIn(secret) {
  try {
    const answer = await fetch(location.pathname, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(secret), redirect: "error",
    });
    if (answer.ok) { location.replace(data.home); return; }
    tell(secret.token === undefined ? "This link was used already, or is of an earlier start. The server wrote a new one where it runs."
      : "This is not the server's token.", true);
  } catch {
    tell("The server does not answer.", true);
  }
}

byId("form").hidden = !data.takes_token;
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const token = byId("token").value;
  byId("token").value = "";
  logIn({ token });
});
if (code) logIn({ code });
