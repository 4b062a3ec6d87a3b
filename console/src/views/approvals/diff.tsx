/** The differences between the approved and the held definition, field by field and word by word. All of it is shown as text. */
import { useMemo } from 'preact/hooks';
import type { WholeApproval } from '../../generated/types.gen.ts';
import { toShown } from '../../parts/foreign.tsx';
import { diffWords, type Piece } from '../../parts/word-diff.ts';
import { LongText } from './long-text.tsx';

/** Most characters shown at first: of unchanged text, and of other text. */
const MAX_SAME = 800;
const MAX_TEXT = 20_000;

type Change = NonNullable<WholeApproval['diff']>['changes'][number];

export function Diff({ whole }: { whole: WholeApproval }) {
  const { diff, approved_definition: approved, held_definition: held } = whole;
  const isNew = whole.approved_fingerprint === null;
  return (
    <>
      {diff === null ? (
        <p class="notice">Its definition is too long to be compared.</p>
      ) : (
        <div
          class="diff"
          role="region"
          aria-label={isNew ? 'What it says' : 'What differs'}
          tabIndex={0}
        >
          {diff.changes.map(change => (
            <ChangeOf key={change.path} change={change} />
          ))}
          {diff.changes.length === 0 ? <p>Nothing differs from what was approved.</p> : null}
          {diff.more > 0 ? <p>… and {diff.more} changes more.</p> : null}
        </div>
      )}
      <Definition title="All of the definition that waits" text={held} isOpen={diff === null} />
      <Definition title="All of the approved definition" text={approved} isOpen={false} />
    </>
  );
}

function ChangeOf({ change: { path, before, after } }: { change: Change }) {
  const one = before?.shown ?? '';
  const other = after?.shown ?? '';
  const pieces = useMemo(() => diffWords(one, other), [one, other]);
  return (
    <section>
      <h3>
        <bdi>{path === '' ? '(all of it)' : path}</bdi>
        {before ? null : <span class="faint"> — new</span>}
        {after ? null : <span class="faint"> — gone</span>}
      </h3>
      <pre>
        {pieces.map((piece, at) => (
          <PieceOf key={`${at} ${piece.kind}`} piece={piece} />
        ))}
      </pre>
    </section>
  );
}

function PieceOf({ piece: { kind, text } }: { piece: Piece }) {
  if (kind === 'same') {
    return (
      <bdi>
        <LongText text={text} max={MAX_SAME} keepsEnd />
      </bdi>
    );
  }
  const Mark = kind === 'new' ? 'ins' : 'del';
  return (
    <Mark>
      <span class="hidden">{kind === 'new' ? ' [new: ' : ' [gone: '}</span>
      <LongText text={text} max={MAX_TEXT} />
      <span class="hidden">] </span>
    </Mark>
  );
}

interface DefinitionProps {
  title: string;
  text: string | null;
  isOpen: boolean;
}

/** As the server wrote it, with hidden characters made visible. */
function Definition({ title, text, isOpen }: DefinitionProps) {
  if (text === null) return null;
  return (
    <details open={isOpen}>
      <summary>{title}</summary>
      <pre class="definition" role="region" aria-label={title} tabIndex={0}>
        <LongText text={toShown(text, Infinity)} max={MAX_TEXT} />
      </pre>
    </details>
  );
}
