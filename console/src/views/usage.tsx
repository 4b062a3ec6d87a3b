/**
 * What is called how much, and how much may be: usage by day, person, group, server and tool, and for administrators budgets of calls
 * (`?tab=budgets`). People see what they called themselves.
 */
import { useAddress } from '../parts/use-address.ts';
import type { ViewProps } from '../view-props.ts';
import { Budgets } from './usage/budgets.tsx';
import { Totals } from './usage/totals.tsx';
import './usage/usage.css';

export default function Usage({ me }: ViewProps) {
  const [search] = useAddress();
  const isAdmin = me.scopes.includes('admin');
  if (isAdmin && search.get('tab') === 'budgets') return <Budgets />;
  return <Totals isAdmin={isAdmin} seesAll={isAdmin && !me.limited} />;
}
