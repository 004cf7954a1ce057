import type { Sitting } from '../api/records.ts'
import type { TableState } from './table-state.ts'

const timerMsMax = 2 ** 31 - 1

/** The timers of a table: end of the session, reality check, next game start. Each changes the state once. */
export function createTableTimers(set: (change: Partial<TableState>) => void) {
  const timers = new Map<string, ReturnType<typeof setTimeout>>()

  function change(name: 'end' | 'check' | 'hold', inMs: number, then: Partial<TableState>): void {
    clearTimeout(timers.get(name))
    timers.set(
      name,
      setTimeout(() => set(then), Math.min(Math.max(0, inMs), timerMsMax)),
    )
  }

  return {
    /** Starts anew with what a sitting says. */
    seat({ session, protection }: Sitting): void {
      clearTimeout(timers.get('end'))
      clearTimeout(timers.get('check'))
      if (session.status !== 'ACTIVE') return
      change('end', Date.parse(session.expires_at) - Date.now(), { ended: 'EXPIRED', checking: false })
      const check = protection?.reality_check ?? null
      if (check !== null && check.due_in_s > 0) change('check', check.due_in_s * 1000, { checking: true })
    },

    /** Takes no bet for some seconds. */
    hold(seconds: number): void {
      set({ heldUntilMs: Date.now() + seconds * 1000 })
      change('hold', seconds * 1000, { heldUntilMs: null })
    },

    stop(): void {
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}
