/** Why a configuration file cannot be edited. */

/** `message` continues a sentence that starts with the name of the file: `is no JSON`. */
export class NotEditable extends Error {}
