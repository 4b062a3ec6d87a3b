/** Checks whether a version of Node can run the command. Pure, and written so that any Node can read it. */

/** As `engines` in package.json: older versions have SQLite, which `portico up` uses, only behind a flag. */
export const OLDEST_NODE: readonly [major: number, minor: number] = [22, 13];

/**
 * @param version from `process.versions.node`
 * @returns why the command cannot start; undefined where it can
 */
export function refuseOldNode(version: string): string | undefined {
  const [major, minor] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  const isOld =
    major === undefined ||
    major < oldestMajor ||
    (major === oldestMajor && (minor === undefined || minor < oldestMinor));
  if (!isOld) return undefined;
  return `needs Node.js ${OLDEST_NODE.join('.')} or newer, and this is ${version}; get a newer one from https://nodejs.org`;
}
