/** A row of named figures, such as multiplier and chance. */
export function Figures({ figures }: { figures: readonly { name: string; value: string }[] }) {
  return (
    <dl class="figures">
      {figures.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
