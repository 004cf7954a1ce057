import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useRoute } from 'wouter'
import { createApi } from './api/create-api.ts'
import { ErrorNotice } from './parts/error-notice.tsx'
import { FaultBoundary } from './parts/fault-boundary.tsx'
import { Gate } from './session/gate.tsx'
import { Invitation } from './session/invitation.tsx'
import { SignIn } from './session/sign-in.tsx'
import { SignedIn } from './session/signed-in.tsx'
import type { Session } from './session/create-session.ts'
import { useSession } from './session/use-session.ts'

/** The dashboard: the way in for who is not signed in, else the pages. */
export function App({ session }: { session: Session }) {
  const state = useSession(session)
  const api = useMemo(() => createApi(session), [session])
  const [invited] = useRoute('/invitation')
  const queries = useQueryClient()
  const isOut = state.kind === 'out'
  useEffect(() => {
    if (isOut) queries.clear()
  }, [isOut, queries])

  if (invited) return <Invitation session={session} />
  switch (state.kind) {
    case 'starting':
      return <div className="loading" role="status" aria-label="Signing in" />
    case 'unreachable':
      return (
        <Gate title="The service did not answer">
          <ErrorNotice error={state.error} onRetry={() => void session.start()} />
        </Gate>
      )
    case 'out':
      return (
        <Gate title="Sign in">
          {state.notice !== null && (
            <p className="notice" data-tone="plain" role="status">
              {state.notice}
            </p>
          )}
          <SignIn session={session} email={state.email} />
        </Gate>
      )
    case 'in':
      return (
        <FaultBoundary>
          <SignedIn key={state.user.user_id} session={session} api={api} {...state} />
        </FaultBoundary>
      )
  }
}
