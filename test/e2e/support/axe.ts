/** What axe finds wrong with a page, in any browser. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const AXE = fileURLToPath(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url));
const source = readFileSync(AXE, 'utf8');
/** What axe says of colours: all of its rules that a theme can break. */
export const COLOR_RULES = ['color-contrast', 'link-in-text-block'];
/** WCAG 2.2 AA, as axe has it. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Puts axe into the page, where it is not there yet, and runs it.
 * @param evaluate the value of an expression in the page
 * @param rules those that count; absent: all
 * @returns for each that is broken its name, and where
 */
export async function violationsOf(
  evaluate: <T>(expression: string) => Promise<T>,
  rules: readonly string[] = TAGS,
): Promise<string[]> {
  const isThere = await evaluate<boolean>('"axe" in window');
  if (!isThere) await evaluate(`(() => { ${source} })()`);
  const { violations } = await evaluate<{
    violations: { id: string; nodes: { target: string[] }[] }[];
  }>(`axe.run({ runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] })`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.target).join(' ')}`);
}
