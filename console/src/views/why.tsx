/**
 * Explains why a principal may or may not use a tool: the question is in the URL, and the answer is the gateway's own decision, step by
 * step.
 */
import { useQuery } from '@tanstack/preact-query';
import { useSearchParams } from 'wouter-preact';
import { explainQuery } from '../api/explain.ts';
import { principalQuery } from '../api/people.ts';
import { ApiProblem } from '../api/request.ts';
import { Loading, Problem } from '../parts/states.tsx';
import './why.css';
import { Decision } from './why/decision.tsx';
import { QuestionForm, type Question } from './why/question.tsx';

export default function Why() {
  const [params, setParams] = useSearchParams();
  const of = (name: keyof Question) => params.get(name) ?? '';
  const asked: Question = {
    principal: of('principal'),
    token: of('token'),
    server: of('server'),
    tool: of('tool'),
  };
  const principal = useQuery(principalQuery(asked.principal));
  // The deployment's token belongs to no listed principal.
  const isKnown = asked.principal === '' || !principal.isPending;
  const name = isKnown ? (principal.data?.name ?? asked.principal) : undefined;
  const ask = (question: Question) =>
    setParams(new URLSearchParams(Object.entries(question).filter(([, value]) => value !== '')));
  const isWhole = asked.principal !== '' && asked.server !== '' && asked.tool !== '';
  return (
    <>
      <h1>Why</h1>
      <p>Why somebody sees a tool and may call it, or not, and what to change. Nothing is sent.</p>
      <QuestionForm asked={asked} name={name} onAsk={ask} />
      {isWhole && name !== undefined ? <Answer asked={asked} name={name} /> : null}
    </>
  );
}

function Answer({ asked, name }: { asked: Question; name: string }) {
  const { principal, token, server, tool } = asked;
  const whose = token === '' ? { principal } : { token };
  const { data, error, refetch } = useQuery(explainQuery({ ...whose, server, tool }));
  if (error instanceof ApiProblem && error.code === 'not_found' && token !== '') {
    return (
      <p class="notice">{error.message}. If the token is gone, choose a token without limits.</p>
    );
  }
  if (error) return <Problem thrown={error} onRetry={() => void refetch()} />;
  return data ? <Decision found={data} name={name} /> : <Loading />;
}
