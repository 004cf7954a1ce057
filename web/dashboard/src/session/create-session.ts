import { dashboardTokenSchema, type User } from '@pitboss/contracts/objects/user'
import type * as z from 'zod'
import { ApiError } from '../api/api-error.ts'
import { exchange } from '../api/exchange.ts'

export type SessionState =
  /** The refresh cookie is being tried. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'unreachable'; readonly error: ApiError }
  | { readonly kind: 'out'; readonly notice: string | null; readonly email: string }
  /** `ended`: the session is over, the page and what was typed stay until somebody signs in again. */
  | { readonly kind: 'in'; readonly user: User; readonly ended: boolean }

type SignIn = { email: string; password: string; totp?: string; operator_id?: string }

export type Session = {
  state(): SessionState
  subscribe(changed: () => void): () => void
  /** Tries the refresh cookie. Never throws. */
  start(): Promise<void>
  /** @throws ApiError */
  signIn(credentials: SignIn): Promise<void>
  /** Ends the session at the service and here. @throws ApiError when the service could not be told */
  signOut(): Promise<void>
  /** The session is over by an act of this page; `notice` says so beside the sign-in. */
  leave(notice: string, email: string): void
  /** The record of the person has changed. */
  setUser(user: User): void
  /** A token that is good for a while yet. @throws ApiError */
  token(): Promise<string>
  /** Another token than `refused`. @throws ApiError */
  renewed(refused: string): Promise<string>
}

/** A token is renewed this long before its end. */
const spareMs = 30_000
const channelName = 'pitboss-dashboard'
const lockName = 'pitboss-dashboard-renewal'

/**
 * The session of a person in this window. The access token lives in memory alone; the refresh cookie, which
 * no script can read, makes the next one. Windows renew one after the other: a cookie that comes back after
 * its use ends the session.
 */
export function createSession(): Session {
  const listeners = new Set<() => void>()
  const otherWindows = new BroadcastChannel(channelName)
  let state: SessionState = { kind: 'starting' }
  let access: { token: string; endsAtMs: number } | null = null
  let renewal: Promise<string> | null = null

  function become(next: SessionState): void {
    state = next
    for (const changed of listeners) changed()
  }

  function accept({ access_token, expires_in, user }: z.output<typeof dashboardTokenSchema>): string {
    access = { token: access_token, endsAtMs: Date.now() + expires_in * 1000 }
    become({ kind: 'in', user, ended: false })
    return access_token
  }

  function goOut(notice: string | null, email = ''): void {
    access = null
    become({ kind: 'out', notice, email })
  }

  async function askForToken(): Promise<string> {
    const ask = () => exchange(dashboardTokenSchema, 'POST', 'dashboard/refresh')
    // Browsers have locks on https and localhost alone.
    const answer = await ('locks' in navigator ? navigator.locks.request(lockName, ask) : ask())
    return accept(answer)
  }

  function renew(): Promise<string> {
    renewal ??= askForToken()
      .catch((error: unknown) => {
        const over = error instanceof ApiError && !error.retryable && error.code !== 'NO_ANSWER'
        if (over && state.kind === 'in') {
          access = null
          become({ ...state, ended: true })
        }
        throw error
      })
      .finally(() => {
        renewal = null
      })
    return renewal
  }

  otherWindows.addEventListener('message', ({ data }) => {
    if (data === 'signed-out' && state.kind === 'in') goOut('You signed out in another window.')
  })

  return {
    state: () => state,
    subscribe(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    async start() {
      become({ kind: 'starting' })
      try {
        await renew()
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (error.code === 'INVALID_CREDENTIALS') goOut(null)
        else if (error.code === 'OPERATOR_SUSPENDED') goOut(error.message)
        else become({ kind: 'unreachable', error })
      }
    },
    async signIn(credentials) {
      accept(await exchange(dashboardTokenSchema, 'POST', 'dashboard/login', { body: credentials }))
    },
    async signOut() {
      await exchange(null, 'POST', 'dashboard/logout')
      otherWindows.postMessage('signed-out')
      goOut('You are signed out.')
    },
    leave: (notice, email) => goOut(notice, email),
    setUser(user) {
      if (state.kind === 'in') become({ ...state, user })
    },
    async token() {
      if (access !== null && access.endsAtMs - spareMs > Date.now()) return access.token
      return renew()
    },
    async renewed(refused) {
      if (access !== null && access.token !== refused) return access.token
      return renew()
    },
  }
}
