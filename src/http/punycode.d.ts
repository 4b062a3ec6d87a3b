/** The part of the `punycode` package (RFC 3492) that is used here; the package has no types of its own. */
declare module 'punycode/punycode.js' {
  const punycode: {
    /** @throws RangeError if the text is not Punycode */
    decode(text: string): string;
  };
  export default punycode;
}
