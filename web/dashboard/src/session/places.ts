import type { Act } from './may.ts'

export type Place = {
  readonly title: string
  readonly href: string
  readonly needs?: Act
  /** "g" and this letter go there. */
  readonly key?: string
}

/** The pages that have a place in the menu, by group. */
export const places: readonly { readonly group: string; readonly places: readonly Place[] }[] = [
  { group: 'Overview', places: [{ title: 'Home', href: '/', key: 'h' }] },
  {
    group: 'Developers',
    places: [
      { title: 'Keys', href: '/keys', key: 'k', needs: 'GET /v1/dashboard/credentials' },
      { title: 'Endpoints', href: '/endpoints', key: 'e', needs: 'GET /v1/dashboard/webhooks' },
      { title: 'Deliveries', href: '/deliveries', key: 'd' },
      { title: 'Events', href: '/events', key: 'v' },
      { title: 'Wallet', href: '/wallet', key: 'w', needs: 'GET /v1/dashboard/wallets/{environment}' },
      { title: 'Requests', href: '/requests', key: 'q', needs: 'GET /v1/dashboard/request-logs' },
    ],
  },
  {
    group: 'Play',
    places: [
      { title: 'Sessions', href: '/sessions', key: 's' },
      { title: 'Rounds', href: '/rounds', key: 'r' },
      { title: 'Transactions', href: '/transactions', key: 't' },
      { title: 'Player', href: '/player', key: 'p' },
      { title: 'Fairness', href: '/fairness', key: 'f' },
      { title: 'Free bets', href: '/free-bets', key: 'b' },
      { title: 'Flags', href: '/flags', key: 'l' },
    ],
  },
  {
    group: 'Business',
    places: [
      { title: 'Reports', href: '/reports', key: 'y' },
      { title: 'Reconciliation', href: '/reconciliation', key: 'x' },
      { title: 'Games', href: '/games', key: 'g' },
      { title: 'Returns', href: '/returns', key: 'i' },
    ],
  },
  {
    group: 'Account',
    places: [
      { title: 'People', href: '/people', key: 'o', needs: 'GET /v1/dashboard/users' },
      { title: 'Audit', href: '/audit', key: 'a', needs: 'GET /v1/dashboard/audit' },
      { title: 'Approvals', href: '/approvals', key: 'c', needs: 'GET /v1/dashboard/approvals' },
      { title: 'Business', href: '/business', key: 'u' },
      { title: 'My account', href: '/account', key: 'm' },
    ],
  },
]
