import { useEffect, useState } from 'preact/hooks'
import type { Sitting } from '../api/records.ts'
import { moneyText } from '@pitboss/money/money-text'
import type { TableState } from './table-state.ts'

type Props = { readonly state: TableState; readonly sitting: Sitting }
type Protection = NonNullable<Sitting['protection']>

/** Time and net spend of the session, where its jurisdiction wants them in view. */
export function SessionFigures({ state, sitting: { protection } }: Props) {
  return protection === undefined ? null : <Figures state={state} protection={protection} />
}

function Figures({ state, protection }: { state: TableState; protection: Protection }) {
  const { net_spend } = protection
  const elapsedS = useElapsed(state, protection)
  return (
    <dl class="session-figures" aria-label="This session">
      <div>
        <dt>Time in this session</dt>
        <dd data-testid="elapsed">{durationText(elapsedS)}</dd>
      </div>
      <div>
        <dt>Net spend</dt>
        <dd data-testid="net-spend">{moneyText(net_spend.amount, net_spend.currency)}</dd>
      </div>
    </dl>
  )
}

/** Seconds of the session: what the service said, and the time since. */
function useElapsed({ seatedAtMs, ended }: TableState, { elapsed_s }: Protection): number {
  const elapsed = () => elapsed_s + (ended === null ? Math.floor((Date.now() - seatedAtMs) / 1000) : 0)
  const [elapsedS, setElapsedS] = useState(elapsed)
  useEffect(() => {
    setElapsedS(elapsed())
    if (ended !== null) return undefined
    const timer = setInterval(() => setElapsedS(elapsed()), 1000)
    return () => clearInterval(timer)
  }, [seatedAtMs, elapsed_s, ended])
  return elapsedS
}

/** 3725 as "1:02:05". */
function durationText(seconds: number): string {
  const part = (unit: number) => String(Math.floor(seconds / unit) % 60).padStart(2, '0')
  return `${Math.floor(seconds / 3600)}:${part(60)}:${part(1)}`
}
