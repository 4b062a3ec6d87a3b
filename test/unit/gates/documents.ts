/**
 * The rules of documents: of all in what concerns their lines; of docs/architecture.md, docs/glossary.md and the `README.md` of each
 * folder of src/ in length and in the paths they name. Each takes one document and returns one sentence for each breach.
 */
import { posix } from 'node:path';

/** One document: its path from the root of the repository, with `/`, and its text. */
export interface Document {
  path: string;
  text: string;
}

/** Longest document of each kind, in lines. */
export const MAX_README_LINES = 15;
export const MAX_ARCHITECTURE_LINES = 120;
/** Longest line outside of tables and code blocks, in characters. */
const MAX_COLUMNS = 100;

const PATH = /^[\w.-]+(?:\/[\w.-]+)*\/?$/;
const FILE = /\.(?:bin|d\.ts|json|md|mjs|sql|toml|ts|txt)$/;

/** A text without its code blocks, fenced or set in by four columns, also those within a list. */
const withoutCode = (text: string) =>
  text.replaceAll(/^( *)```[^]*?^\1```$/gm, '').replaceAll(/^ {4}.*$/gm, '');

/** A document has so many lines at most. */
export function checkLines({ path, text }: Document, most: number): string[] {
  const lines = text.trimEnd().split('\n').length;
  return lines > most ? [`${path} has ${lines} lines, ${most} at most`] : [];
}

/** Lines are short; those of tables and of what a script wrote are as they come. */
export function checkColumns({ path, text }: Document): string[] {
  return withoutCode(text)
    .split('\n')
    .filter(line => line.length > MAX_COLUMNS && !/^(?:\||<!--)/.test(line))
    .map(line => `${path} has a line of ${line.length} characters: ${line.slice(0, 40)}…`);
}

/**
 * What stands in backticks and is a path exists: seen from the document's folder, from src/ or from the root.
 * @param isThere whether a path from the root exists
 * @param rooms the folders of src/: a path that begins with one needs no ending
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

/** Each room has its document. */
export function checkReadmes(rooms: readonly string[], documents: readonly Document[]): string[] {
  return rooms
    .map(room => `src/${room}/README.md`)
    .filter(path => !documents.some(document => document.path === path))
    .map(path => `${path} is missing`);
}
