/**
 * The rules for pages for users: short lines of text, and links that resolve. Code and tables may be wider. Pure: the caller reads the
 * files.
 */

const WIDEST = 100;

/** Lines outside of code, with their numbers. */
function proseOf(markdown: string): [number, string][] {
  let isCode = false;
  return markdown.split('\n').flatMap((line, at): [number, string][] => {
    const isFence = /^\s*```/u.test(line);
    if (isFence) isCode = !isCode;
    return isFence || isCode ? [] : [[at + 1, line]];
  });
}

/** The lines that are too wide, as `path:line`. */
export function findWideLines(path: string, markdown: string): string[] {
  return proseOf(markdown)
    .filter(([, line]) => line.length > WIDEST && !line.startsWith('|'))
    .map(([at]) => `${path}:${at} is wider than ${WIDEST} columns`);
}

/** The anchors that GitHub gives to the headings of a page. */
const anchorsOf = (markdown: string): string[] =>
  proseOf(markdown).flatMap(([, line]) => {
    const heading = /^#+ (.*)$/u.exec(line)?.[1];
    if (heading === undefined) return [];
    const plain = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '');
    return [plain.trim().replaceAll(' ', '-')];
  });

/**
 * The relative links of a page that do not resolve.
 * @param path of the page from the root of the repository
 * @param read text of a file or an empty one for a folder, by its path from the root; undefined if it does not exist
 */
export function findDeadLinks(
  path: string,
  markdown: string,
  read: (path: string) => string | undefined,
): string[] {
  const base = new URL(path, 'file:///');
  const prose = proseOf(markdown).map(([, line]) => line);
  const links = [...prose.join('\n').matchAll(/\]\(([^)\s]+)\)/gu)].map(([, link = '']) => link);
  return links.flatMap(link => {
    if (/^[a-z]+:/u.test(link)) return [];
    const target = new URL(link, base);
    const text = read(decodeURIComponent(target.pathname.slice(1)));
    const anchor = decodeURIComponent(target.hash.slice(1));
    const isThere = text !== undefined && (anchor === '' || anchorsOf(text).includes(anchor));
    return isThere ? [] : [`${path}: ${link} leads nowhere`];
  });
}
