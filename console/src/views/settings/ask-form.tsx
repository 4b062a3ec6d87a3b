/** Adds tools to the allow-list of ask. */
import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { createEntry } from '../../api/ask-allowlist.ts';
import { findOnlyPrincipal } from '../../api/people.ts';
import { principalsNamed } from '../../api/suggestions.ts';
import type { CreateAskAllowlistEntry } from '../../generated/types.gen.ts';
import { messageFor, Select, Text } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { ServerAndTool } from '../../parts/server-and-tool.tsx';
import { Suggest } from '../../parts/suggest.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useFocus } from '../../parts/use-focus.ts';

type Kind = 'everyone' | 'group' | 'principal';

const KINDS: readonly (readonly [kind: Kind, text: string])[] = [
  ['everyone', 'Everyone'],
  ['group', 'A group'],
  ['principal', 'One person or program'],
];

const HINTS = {
  server: 'Its name, or a pattern as *',
  tool: 'Its name at the server, or a pattern as search_*',
};

interface FormProps {
  /** Address of the list. */
  back: string;
  onSaved: () => void;
}

export function AskForm({ back, onSaved }: FormProps) {
  const [kind, setKind] = useState<Kind>('everyone');
  const [who, setWho] = useState('');
  const [server, setServer] = useState('');
  const [tool, setTool] = useState('');
  const [hasEffects, setEffects] = useState(false);
  const [description, setDescription] = useState('');
  const { isBusy, thrown, run } = useAct();
  const principals = useQuery({ ...principalsNamed(who), enabled: kind === 'principal' });
  const heading = useFocus<HTMLHeadingElement>();

  const save = () =>
    run(async () => {
      const subject = await toSubject(kind, who.trim());
      await createEntry({
        subject,
        server: server.trim(),
        tool: tool.trim(),
        side_effects: hasEffects,
        description,
      });
      onSaved();
    });
  const offered = principals.data?.principals.map(({ name }) => name) ?? [];
  const wrongEffects = messageFor(thrown, 'side_effects');

  return (
    <Form onSend={save} isBusy={isBusy} thrown={thrown} verb="Allow it" cancel={back}>
      <h3 ref={heading} tabIndex={-1}>
        Allow ask to call tools
      </h3>
      <Select id="ask-who" label="Who may ask" value={kind} options={KINDS} onValue={setKind} />
      {kind === 'everyone' ? null : (
        <Suggest
          label={kind === 'group' ? 'Group' : 'Name'}
          wrong={messageFor(thrown, 'subject')}
          value={who}
          offered={kind === 'group' ? [] : offered}
          required
          onValue={setWho}
        />
      )}
      <ServerAndTool
        server={server}
        tool={tool}
        wrong={name => messageFor(thrown, name)}
        hints={HINTS}
        onServer={setServer}
        onTool={setTool}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={hasEffects}
          aria-invalid={wrongEffects === undefined ? undefined : 'true'}
          onChange={({ currentTarget }) => setEffects(currentTarget.checked)}
        />
        Also if the tool may change something: then name one server and one tool
      </label>
      <Text
        label="Why"
        id="ask-why"
        wrong={messageFor(thrown, 'description')}
        rows={2}
        maxLength={2_000}
        value={description}
        onValue={setDescription}
      />
    </Form>
  );
}

/** @throws Error where there is no principal with this name, or several */
async function toSubject(
  kind: Kind,
  who: string,
): Promise<NonNullable<CreateAskAllowlistEntry['subject']>> {
  if (kind === 'everyone') return { kind };
  if (kind === 'group') return { kind, name: who };
  const { id } = await findOnlyPrincipal(who);
  return { kind, id };
}
