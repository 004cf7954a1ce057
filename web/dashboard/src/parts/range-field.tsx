import { useId, useState } from 'react'
import { type RangeName, rangeNames } from '../hooks/use-filters.ts'
import { useZone } from '../time/zone.tsx'
import { instantOf, localText } from '../time/zone-time.ts'

const rangeTexts: Readonly<Record<RangeName, string>> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
}
const hourMs = 3_600_000
const rangeMs: Readonly<Record<RangeName, number>> = {
  '1h': hourMs,
  '24h': 24 * hourMs,
  '7d': 7 * 24 * hourMs,
  '30d': 30 * 24 * hourMs,
}

type Window = { readonly range?: string; readonly from?: string; readonly to?: string }

/** The window of a request: a range ends now. */
export function windowOf({ range, from, to }: Window): { from?: string; to?: string } {
  const name = rangeNames.find((one) => one === range)
  if (name !== undefined) return { from: new Date(Date.now() - rangeMs[name]).toISOString() }
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
}

type RangeFieldProps = {
  readonly window: Window
  /** The window that the list has without one, in words. */
  readonly anyTime: string
  readonly set: (changes: Readonly<Record<string, string | null>>) => void
}

/** The window of a list: a range up to now, or two times in the zone of the page, to the second. */
export function RangeField({ window, anyTime, set }: RangeFieldProps) {
  const { range, from, to } = window
  const { zone } = useZone()
  const [opened, setOpened] = useState(false)
  const absolute = from !== undefined || to !== undefined || opened
  const id = useId()
  function choose(value: string) {
    setOpened(value === 'absolute')
    if (value !== 'absolute') set({ range: value, from: null, to: null })
  }
  function setEdge(edge: 'from' | 'to', local: string) {
    const iso = instantOf(local, zone)
    if (local === '' || iso !== null) set({ range: null, [edge]: iso })
  }
  return (
    <>
      <div className="field">
        <label htmlFor={id}>Time</label>
        <select
          id={id}
          value={absolute ? 'absolute' : (range ?? '')}
          onChange={(e) => choose(e.target.value)}
        >
          <option value="">{anyTime}</option>
          {rangeNames.map((name) => (
            <option key={name} value={name}>
              {rangeTexts[name]}
            </option>
          ))}
          <option value="absolute">From … to …</option>
        </select>
      </div>
      {absolute && (
        <>
          <InstantField edge="From" at={from} onSet={(value) => setEdge('from', value)} />
          <InstantField edge="To" at={to} onSet={(value) => setEdge('to', value)} />
        </>
      )}
    </>
  )
}

type InstantFieldProps = { edge: string; at: string | undefined; onSet: (local: string) => void }

function InstantField({ edge, at, onSet }: InstantFieldProps) {
  const { zone } = useZone()
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>
        {edge} ({zone})
      </label>
      <input
        key={`${zone} ${at}`}
        id={id}
        type="datetime-local"
        step="1"
        defaultValue={at === undefined ? '' : localText(at, zone)}
        onBlur={(event) => onSet(event.target.value)}
      />
    </div>
  )
}
