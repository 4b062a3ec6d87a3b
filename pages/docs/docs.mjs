/**
 * The page of the API's description: asks for a token, loads `/openapi.json` with it and hands both to the renderer. The token is kept in memory only,
 * and sent to this origin only.
 */
const form = document.getElementById('sign-in');
const message = document.getElementById('message');

form.addEventListener('submit', event => {
  event.preventDefault();
  const token = document.getElementById('token').value.trim();
  show(token).catch(() => {
    message.textContent = 'The gateway cannot be reached.';
  });
});

async function show(token) {
  message.textContent = '';
  const response = await fetch('/openapi.json', { headers: { Authorization: `Bearer ${token}` } });
  if (!response.ok) {
    const isRefused = response.status === 401;
    message.textContent = isRefused ? 'This token is not valid.' : `Error ${response.status}.`;
    return;
  }
  const spec = await response.json();
  form.hidden = true;
  globalThis.SwaggerUIBundle({
    spec,
    domNode: document.getElementById('document'),
    validatorUrl: null,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayOperationId: true,
    // The command that is shown for a request is the one before the token is added.
    showMutatedRequest: false,
    requestInterceptor: request => authorize(request, token),
  });
}

function authorize(request, token) {
  const isOurs = new URL(request.url, location.href).origin === location.origin;
  if (isOurs) request.headers = { ...request.headers, Authorization: `Bearer ${token}` };
  return request;
}
