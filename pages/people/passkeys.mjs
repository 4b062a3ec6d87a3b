/** Asks the browser for a passkey, and sends its answer with the form. Where the browser has none, the forms stay hidden. */
const FAILED = 'That did not work. Try again, or sign in another way.';
const PROBLEMS = {
  NotAllowedError: 'Nothing was done: it was cancelled, or took too long.',
  InvalidStateError: 'This device has a passkey of yours already.',
};

const problem = document.querySelector('#problem');
const canAsk = typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function';

/** The browser's answer to what the gateway asks: for a new passkey where that names the user, else for one that is there. */
async function ask(options) {
  if (options.user) {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return navigator.credentials.create({ publicKey });
  }
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return navigator.credentials.get({ publicKey });
}

async function send(form) {
  const response = await fetch(form.dataset.start, { method: 'POST' });
  const body = await response.json();
  if (!response.ok) {
    problem.textContent = body.detail ?? FAILED;
    return;
  }
  form.elements.namedItem('answer').value = JSON.stringify(await ask(body));
  form.submit();
}

for (const form of document.querySelectorAll('form[data-start]')) {
  form.hidden = !canAsk;
  form.addEventListener('submit', event => {
    event.preventDefault();
    problem.textContent = '';
    const button = form.querySelector('button');
    button.disabled = true;
    send(form)
      .catch(error => {
        problem.textContent = PROBLEMS[error.name] ?? FAILED;
      })
      .finally(() => {
        button.disabled = false;
      });
  });
}
if (canAsk) document.querySelector('[data-unable]')?.remove();
