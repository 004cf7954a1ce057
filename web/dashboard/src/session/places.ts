import type { Act } from './may.ts'

export type Place = { readonly title: string; readonly href: string; readonly needs?: Act }
/** The pages that have a place in the menu, by group. */
export const places: readonly { readonly group: string; readonly places: readonly Place[] }[] = [
  { group: 'Overview', places: [{ title: 'Home', href: '/' }] },
  {
    group: 'Developers',
    places: [
      { title: 'Keys', href: '/keys', needs: 'GET /v1/dashboard/credentials' },
      { title: 'Endpoints', href: '/endpoints', needs: 'GET /v1/dashboard/webhooks' },
      { title: 'Deliveries', href: '/deliveries' },
      { title: 'Events', href: '/events' },
      { title: 'Wallet', href: '/wallet', needs: 'GET /v1/dashboard/wallets/{environment}' },
      { title: 'Requests', href: '/requests', needs: 'GET /v1/dashboard/request-logs' },
    ],
  },
  {
    group: 'Play',
    places: [
      { title: 'Sessions', href: '/sessions' },
      { title: 'Rounds', href: '/rounds' },
      { title: 'Transactions', href: '/transactions' },
      { title: 'Player', href: '/player' },
      { title: 'Fairness', href: '/fairness' },
      { title: 'Free bets', href: '/free-bets' },
    ],
  },
  {
    group: 'Account',
    places: [
      { title: 'People', href: '/people', needs: 'GET /v1/dashboard/users' },
      { title: 'Audit', href: '/audit', needs: 'GET /v1/dashboard/audit' },
      { title: 'Business', href: '/business' },
      { title: 'My account', href: '/account' },
    ],
  },
]
