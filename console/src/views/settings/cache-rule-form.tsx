/** A rule of the result cache, new or edited. Where it was edited elsewhere meanwhile, that is told first, and what was typed is kept. */
import { useQuery } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';
import { createCacheRule, readCacheRule, updateCacheRule } from '../../api/cache-rules.ts';
import { ApiProblem } from '../../api/request.ts';
import { serversNamed, toolsOf } from '../../api/suggestions.ts';
import type { CacheRule } from '../../generated/types.gen.ts';
import { Amount, messageFor, Text } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { Suggest } from '../../parts/suggest.tsx';
import { useAct } from '../../parts/use-act.ts';

interface FormProps {
  /** Absent: it is a new one. */
  rule?: CacheRule;
  /** Where the list is. */
  back: string;
  onSaved: () => void;
}

export function CacheRuleForm({ rule, back, onSaved }: FormProps) {
  const [base, setBase] = useState(rule);
  const [server, setServer] = useState('');
  const [tool, setTool] = useState('');
  const [seconds, setSeconds] = useState(String(rule?.ttl_seconds ?? 300));
  const [isPublic, setPublic] = useState(rule?.public ?? false);
  const [description, setDescription] = useState(rule?.description ?? '');
  const [isStale, setStale] = useState(false);
  const { isBusy, thrown, run } = useAct();
  const servers = useQuery({ ...serversNamed(server), enabled: !rule });
  const tools = useQuery(toolsOf(server));
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);

  const save = () =>
    run(async () => {
      setStale(false);
      const edited = { ttl_seconds: Number(seconds), public: isPublic, description };
      try {
        if (base) await updateCacheRule(base.id, edited, base.revision);
        else await createCacheRule({ ...edited, server: server.trim(), tool: tool.trim() });
      } catch (problem) {
        if (!base || !(problem instanceof ApiProblem) || problem.status !== 412) throw problem;
        setBase(await readCacheRule(base.id));
        return setStale(true);
      }
      onSaved();
    });

  return (
    <Form
      onSend={save}
      isBusy={isBusy}
      thrown={thrown}
      verb={isStale ? 'Save over it' : 'Save'}
      cancel={back}
    >
      <h3 ref={heading} tabIndex={-1}>
        {rule
          ? `Edit the rule for ${toShown(rule.tool, 100)} of ${toShown(rule.server, 100)}`
          : 'Add a rule'}
      </h3>
      {rule ? null : (
        <>
          <Suggest
            label="Server"
            wrong={messageFor(thrown, 'server')}
            value={server}
            offered={servers.data?.servers.map(({ name }) => name) ?? []}
            required
            onValue={setServer}
          />
          <Suggest
            label="Tool"
            hint="Its name at the server, or a pattern as get_*"
            wrong={messageFor(thrown, 'tool')}
            value={tool}
            offered={tools.data ?? []}
            required
            onValue={setTool}
          />
        </>
      )}
      <Amount
        label="Seconds that a result may be old"
        id="rule-seconds"
        wrong={messageFor(thrown, 'ttl_seconds')}
        hint="1 to 86,400, which is a day"
        max={86_400}
        value={seconds}
        onValue={setSeconds}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isPublic}
          onChange={({ currentTarget }) => setPublic(currentTarget.checked)}
        />
        The result is the same for everybody who may call the tool
      </label>
      <Text
        label="Why"
        id="rule-why"
        wrong={messageFor(thrown, 'description')}
        rows={2}
        maxLength={2_000}
        value={description}
        onValue={setDescription}
      />
      {base && isStale ? (
        <p class="problem" role="alert">
          Somebody else changed it meanwhile: {base.ttl_seconds} seconds,{' '}
          {base.public ? 'the same for all' : 'each principal its own'}, “
          <Foreign text={base.description} max={300} />
          ”. What you typed is kept; nothing is saved yet.
        </p>
      ) : null}
    </Form>
  );
}
