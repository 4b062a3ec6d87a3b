/** Runs axe on a page, in any browser. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const AXE = fileURLToPath(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url));
const source = readFileSync(AXE, 'utf8');
/** axe's rules about colours: all that a theme can break. */
export const COLOR_RULES = ['color-contrast', 'link-in-text-block'];
/** axe's tags for WCAG 2.2 AA. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Loads axe into the page, if it is not there yet, and runs it.
 * @param evaluate evaluates an expression in the page
 * @param rules the rules to run; absent: all
 * @returns for each violation its rule, and where
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
