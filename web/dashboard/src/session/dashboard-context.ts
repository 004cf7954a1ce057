import type { User } from '@pitboss/contracts/objects/user'
import { createContext, useContext } from 'react'
import type { Api } from '../api/create-api.ts'
import type { Session } from './create-session.ts'

export type Environment = 'TEST' | 'LIVE'

export type Dashboard = {
  readonly api: Api
  readonly session: Session
  readonly user: User
  /** The one that the address names. */
  readonly environment: Environment
}

export const DashboardContext = createContext<Dashboard | null>(null)

/** Who is signed in, and where. @throws Error outside of the pages of a person who is signed in */
export function useDashboard(): Dashboard {
  const dashboard = useContext(DashboardContext)
  if (dashboard === null) throw new Error('nobody is signed in here')
  return dashboard
}
