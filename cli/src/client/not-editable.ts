/** Why a configuration is left as it is. */

/** `message` goes on after the name of the file: `is no JSON`. */
export class NotEditable extends Error {}
