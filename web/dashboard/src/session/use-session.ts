import { useSyncExternalStore } from 'react'
import type { Session, SessionState } from './create-session.ts'

/** The state of the session; the component follows its changes. */
export function useSession(session: Session): SessionState {
  return useSyncExternalStore(session.subscribe, session.state)
}
