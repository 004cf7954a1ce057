import { businessSchema } from '@pitboss/contracts/objects/account'
import type { User } from '@pitboss/contracts/objects/user'
import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Redirect, Router, useLocation, useRoute } from 'wouter'
import type { Api } from '../api/create-api.ts'
import { ApiError } from '../api/api-error.ts'
import { useRead } from '../hooks/use-read.ts'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Modal } from '../parts/modal.tsx'
import { Pages } from '../pages/pages.tsx'
import { ZoneProvider } from '../time/zone.tsx'
import type { Session } from './create-session.ts'
import { DashboardContext, useDashboard } from './dashboard-context.ts'
import { ForcedPassword } from './forced-password.tsx'
import { ForcedTotp } from './forced-totp.tsx'
import { Gate } from './gate.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

type SignedInProps = { session: Session; api: Api; user: User; ended: boolean }

/** What a person who is signed in sees; the address names the environment first. */
export function SignedIn({ session, api, user, ended }: SignedInProps) {
  const [, params] = useRoute('/:environment/*?')
  const [location] = useLocation()
  const queries = useQueryClient()
  const environment = params?.environment === 'live' ? 'LIVE' : 'TEST'
  const dashboard = useMemo(
    () => ({ api, session, user, environment }) as const,
    [api, session, user, environment],
  )
  if (params?.environment !== 'test' && params?.environment !== 'live')
    return <Redirect to={`/test${location === '/' ? '' : location}${window.location.search}`} replace />
  return (
    <DashboardContext value={dashboard}>
      {user.password_change_required ? <ForcedPassword /> : <Account key={environment} />}
      {ended && (
        <Modal title="Sign in again" onClose={null}>
          <p>Your sign-in has ended. This page and what you typed stay as they are.</p>
          <SignIn session={session} email={user.email} onDone={() => void queries.invalidateQueries()} />
        </Modal>
      )}
    </DashboardContext>
  )
}

/** The pages, once the account lets the person in. */
function Account() {
  const { environment } = useDashboard()
  const read = useRead(businessSchema, 'business')
  const { data: business, error } = read
  if (error instanceof ApiError && error.code === 'FORBIDDEN' && error.names('totp')) return <ForcedTotp />
  if (business === undefined && error !== null) {
    if (!(error instanceof ApiError)) throw error
    return (
      <Gate title="The account could not be read">
        <ErrorNotice error={error} onRetry={() => void read.refetch()} />
      </Gate>
    )
  }
  if (business === undefined) return <div className="loading" role="status" aria-label="Loading" />
  return (
    <Router base={`/${environment.toLowerCase()}`}>
      <ZoneProvider account={business.timezone}>
        <Shell business={business}>
          <Pages />
        </Shell>
      </ZoneProvider>
    </Router>
  )
}
