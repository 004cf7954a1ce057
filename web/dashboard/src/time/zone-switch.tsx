import { useZone } from './zone.tsx'

/** Shows the one zone of all times, and changes it. */
export function ZoneSwitch() {
  const { zone, zones, setZone } = useZone()
  return (
    <label className="zone">
      <span>Times in</span>
      <select aria-label="Times in" value={zone} onChange={(event) => setZone(event.target.value)}>
        {zones.map(({ name, says }) => (
          <option key={name} value={name}>
            {says}
          </option>
        ))}
      </select>
    </label>
  )
}
