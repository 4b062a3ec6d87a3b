/** Attributes of a block of text that scrolls if it is long, also by keyboard. Pure. */
const SHORT_CHARS = 100;

export const boxOf = (text: string) => ({
  class: 'box',
  tabIndex: text.length > SHORT_CHARS ? 0 : undefined,
});
