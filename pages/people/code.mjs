/** Takes the setup code out of the address into its field, so that it stays in no history. */
const code = location.hash.slice(1);
const field = document.querySelector('#code');
if (code !== '') history.replaceState(null, '', location.pathname);
if (field instanceof HTMLInputElement && code !== '') {
  field.value = code;
  document.querySelector('#name')?.focus();
}
