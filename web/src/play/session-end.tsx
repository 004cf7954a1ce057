import { useEffect, useState } from 'preact/hooks'
import type { Sitting } from '../api/records.ts'
import { ReturnLink } from './game-header.tsx'
import type { TableState } from './table-state.ts'

/** The last minutes are counted down. */
const warnBelowS = 300

/** Says that the session is about to end, or has ended. */
export function SessionEnd({ state, sitting }: { state: TableState; sitting: Sitting }) {
  const leftS = useSecondsUntil(sitting.session.expires_at, state.ended === null)
  const { return_url } = sitting.session
  if (state.ended !== null) {
    const open = state.round?.status === 'OPEN'
    return (
      <section class="banner" role="alert" data-testid="session-ended">
        <div>
          <h2>{state.ended === 'CLOSED' ? 'This session was closed' : 'This session has ended'}</h2>
          <p>
            {open
              ? 'Your open round can still be finished. For a new one, open the game again from your casino.'
              : 'Your rounds are settled and your balance is up to date. To go on, open the game again from your casino.'}
          </p>
        </div>
        {return_url === null ? null : <ReturnLink href={return_url} text="Back to the casino" />}
      </section>
    )
  }
  if (leftS > warnBelowS) return null
  const minutes = Math.floor(leftS / 60)
  return (
    <p class="countdown">
      This session ends in {minutes}:{String(leftS % 60).padStart(2, '0')}
    </p>
  )
}

function useSecondsUntil(instant: string, running: boolean): number {
  const secondsLeft = () => Math.max(0, Math.ceil((Date.parse(instant) - Date.now()) / 1000))
  const [leftS, setLeftS] = useState(secondsLeft)
  useEffect(() => {
    setLeftS(secondsLeft())
    if (!running) return undefined
    const timer = setInterval(() => setLeftS(secondsLeft()), 1000)
    return () => clearInterval(timer)
  }, [instant, running])
  return leftS
}
