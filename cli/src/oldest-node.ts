/** Whether a version of Node can run the command. Pure, and plain enough for any Node. */

/** As `engines` of package.json has it: SQLite, which `portico up` opens, stands behind a flag before. */
export const OLDEST_NODE: readonly [major: number, minor: number] = [22, 13];

/**
 * @param version as in `process.versions.node`
 * @returns the reason not to start; undefined where there is none
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
