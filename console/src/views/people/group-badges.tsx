/** The groups of a principal; nothing for none. */
export const GroupBadges = ({ groups }: { groups: readonly string[] }) =>
  groups.length === 0 ? null : (
    <span class="badges">
      {groups.map(group => (
        <span key={group} class="badge">
          {group}
        </span>
      ))}
    </span>
  );
