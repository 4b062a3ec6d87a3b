/** The parts of this view, as links. */
import { Link, useSearchParams } from 'wouter-preact';

const TABS = [
  ['', 'Principals'],
  ['invitations', 'Invitations'],
  ['providers', 'Sign-in providers'],
] as const;

export function Tabs() {
  const [search] = useSearchParams();
  const open = search.get('tab') ?? '';
  return (
    <nav class="tabs" aria-label="Parts of people">
      <ul>
        {TABS.map(([tab, text]) => (
          <li key={tab}>
            <Link
              href={tab === '' ? '/people' : `/people?tab=${tab}`}
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
