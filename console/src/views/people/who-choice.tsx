/** A field for a principal: its name, or its id if several have the name. */
import { useQuery } from '@tanstack/preact-query';
import { principalsNamed } from '../../api/suggestions.ts';
import { Suggest } from '../../parts/suggest.tsx';

interface WhoChoiceProps {
  label: string;
  value: string;
  onValue: (text: string) => void;
}

export function WhoChoice({ label, value, onValue }: WhoChoiceProps) {
  const found = useQuery(principalsNamed(value)).data?.principals ?? [];
  return (
    <Suggest
      label={label}
      value={value}
      offered={found.map(({ name }) => name)}
      required
      onValue={onValue}
    />
  );
}
