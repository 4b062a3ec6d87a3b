/** The parts of a view as links; the open one is in the address as `?tab=`. */
import { Link, useSearchParams } from 'wouter-preact';
import './tabs.css';

interface TabsProps {
  /** Name of the view, in a word. */
  label: string;
  /** Address of the view. */
  path: string;
  /** The first one has no `tab` in the address. */
  tabs: readonly (readonly [tab: string, text: string])[];
}

export function Tabs({ label, path, tabs }: TabsProps) {
  const [search] = useSearchParams();
  const open = search.get('tab') ?? '';
  return (
    <nav class="tabs" aria-label={`Parts of ${label}`}>
      <ul>
        {tabs.map(([tab, text]) => (
          <li key={tab}>
            <Link
              href={tab === '' ? path : `${path}?tab=${tab}`}
              aria-current={tab === open ? 'page' : undefined}
            >
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
