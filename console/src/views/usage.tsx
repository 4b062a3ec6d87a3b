/**
 * Usage: calls by day, person, group, server and tool, and for administrators budgets of calls (`?tab=budgets`). Other users see only their
 * own calls.
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
