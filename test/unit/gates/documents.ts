/**
 * The rules of documents: the line width of all; the length and the paths of docs/architecture.md, docs/glossary.md and the `README.md` of
 * each folder of src/. Each function takes one document and returns one sentence for each breach.
 */
import { posix } from 'node:path';

/** One document: its path from the root of the repository, with `/`, and its text. */
export interface Document {
  path: string;
  text: string;
}

/** Maximum length of each kind, in lines. */
export const MAX_README_LINES = 15;
export const MAX_ARCHITECTURE_LINES = 120;
/** Maximum width outside of tables and code blocks, in characters. */
const MAX_COLUMNS = 100;

const PATH = /^[\w.-]+(?:\/[\w.-]+)*\/?$/;
const FILE = /\.(?:bin|d\.ts|json|md|mjs|sql|toml|ts|txt)$/;

/** A text without its code blocks, fenced or indented by four columns, also within a list. */
const withoutCode = (text: string) =>
  text.replaceAll(/^( *)```[^]*?^\1```$/gm, '').replaceAll(/^ {4}.*$/gm, '');

/** Checks that a document has no more than `most` lines. */
export function checkLines({ path, text }: Document, most: number): string[] {
  const lines = text.trimEnd().split('\n').length;
  return lines > most ? [`${path} has ${lines} lines, ${most} at most`] : [];
}

/** Checks the width of lines, except in tables and in generated documents. */
export function checkColumns({ path, text }: Document): string[] {
  return withoutCode(text)
    .split('\n')
    .filter(line => line.length > MAX_COLUMNS && !/^(?:\||<!--)/.test(line))
    .map(line => `${path} has a line of ${line.length} characters: ${line.slice(0, 40)}…`);
}

/**
 * Checks that each path in backticks exists, relative to the document's folder, to src/ or to the root.
 * @param isThere whether a path from the root exists
 * @param rooms the folders of src/: text that begins with one is a path even without a file ending
 */
export function checkPaths(
  { path, text }: Document,
  isThere: (path: string) => boolean,
  rooms: readonly string[],
): string[] {
  const quoted = [...withoutCode(text).matchAll(/`([^`]+)`/g)].map(match => match[1] ?? '');
  const isPath = (word: string) => {
    if (!PATH.test(word)) return false;
    const [first = '', ...rest] = word.split('/');
    return word.endsWith('/') || FILE.test(word) || (rest.length > 0 && rooms.includes(first));
  };
  const places = [posix.dirname(path), 'src', '.'];
  return quoted
    .filter(isPath)
    .filter(word => !places.some(place => isThere(posix.join(place, word))))
    .map(word => `${path} names ${word}, which does not exist`);
}

/** Checks that each room has a README.md. */
export function checkReadmes(rooms: readonly string[], documents: readonly Document[]): string[] {
  return rooms
    .map(room => `src/${room}/README.md`)
    .filter(path => !documents.some(document => document.path === path))
    .map(path => `${path} is missing`);
}
