/** A preview of what saving would change, and for whom, shown before it is saved. Names of people and tools are outside text. */
import type { ComponentChildren } from 'preact';
import type { AccessPreview } from '../generated/types.gen.ts';
import { Foreign } from './foreign.tsx';
import './preview.css';
import { useFocus } from './use-focus.ts';

/** What is gained and lost. */
export type Change = Pick<AccessPreview['groups'][number], 'gained' | 'lost' | 'tools'>;

interface PreviewProps {
  title: string;
  found: AccessPreview;
  /** Text where nobody gains or loses anything. */
  nothing: string;
  /** Changes that apply to everybody, shown first. */
  first?: ComponentChildren;
  /** The available actions. */
  children: ComponentChildren;
}

export function Preview({ title, found, nothing, first, children }: PreviewProps) {
  const heading = useFocus<HTMLHeadingElement>(found);
  const { people, examined, changed, groups } = found;
  const more = changed - groups.reduce((sum, each) => sum + each.people, 0);
  return (
    <section class="preview">
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {first}
      {examined < people ? (
        <p class="notice">
          Only {examined} of the {people} people that it concerns were compared.
        </p>
      ) : null}
      {changed === 0 ? (
        <p class="empty">{nothing}</p>
      ) : (
        <p class="hint">With a token without limits. A token that administers may see more.</p>
      )}
      <ul class="preview-groups">
        {groups.map(group => (
          <li key={group.principals[0]?.id}>
            <h3>
              <People group={group} />
            </h3>
            <Changed change={group} />
          </li>
        ))}
      </ul>
      {more > 0 ? <p class="empty">And other changes for {more} more people.</p> : null}
      <p class="actions">{children}</p>
    </section>
  );
}

function People({ group: { people, principals } }: { group: AccessPreview['groups'][number] }) {
  const rest = people - principals.length;
  return (
    <>
      {principals.map(({ id, name }, at) => (
        <span key={id}>
          {at === 0 ? null : ', '}
          <Foreign text={name} max={60} />
        </span>
      ))}
      {rest > 0 ? ` and ${rest} more` : ''}
    </>
  );
}

/** Up to this many are shown without a click. */
const FEW = 12;
const toCount = (count: number) => (count === 1 ? '1 tool' : `${count} tools`);

/** The number of gained and lost tools, and their names. */
export function Changed({ change: { gained, lost, tools } }: { change: Change }) {
  const rest = gained + lost - tools.length;
  return (
    <details class="changed" open={gained + lost <= FEW}>
      <summary>
        {gained > 0 ? <span class="badge good">gains {toCount(gained)}</span> : null}{' '}
        {lost > 0 ? <span class="badge bad">loses {toCount(lost)}</span> : null}
      </summary>
      <ul tabIndex={tools.length > FEW ? 0 : undefined}>
        {tools.map(({ server, tool, is_gained: isGained }) => (
          <li key={`${server}.${tool}`}>
            <span class={isGained ? 'good' : 'bad'}>{isGained ? 'gains' : 'loses'}</span>{' '}
            {tool === null ? (
              <>
                what <Foreign text={server} max={70} /> has besides tools
              </>
            ) : (
              <code>
                <Foreign text={`${server}.${tool}`} max={200} />
              </code>
            )}
          </li>
        ))}
        {rest > 0 ? <li class="empty">and {rest} more</li> : null}
      </ul>
    </details>
  );
}
