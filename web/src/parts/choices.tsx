/** One of a few: radio buttons that look like a row of buttons. */
export function Choices<Value extends string | number>({
  legend,
  name,
  choices,
  chosen,
  disabled,
  onChoose,
}: {
  legend: string
  name: string
  choices: readonly { value: Value; label: string; hint?: string }[]
  chosen: Value
  disabled: boolean
  onChoose: (value: Value) => void
}) {
  return (
    <fieldset class="choices" disabled={disabled}>
      <legend>{legend}</legend>
      <div>
        {choices.map(({ value, label, hint }) => (
          <label key={value}>
            <input
              type="radio"
              name={name}
              checked={value === chosen}
              onChange={() => onChoose(value)}
              {...(hint === undefined ? {} : { 'aria-label': hint })}
            />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
