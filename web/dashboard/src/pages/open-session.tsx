import { businessSchema } from '@pitboss/contracts/objects/account'
import { useRead } from '../hooks/use-read.ts'
import { Snippet } from '../parts/snippet.tsx'
import { useDashboard } from '../session/dashboard-context.ts'

/** How a server opens the first session, as commands that run as they stand. */
export function OpenSession() {
  const { environment } = useDashboard()
  const business = useRead(businessSchema, 'business')
  const currency = business.data?.currencies[0]
  if (currency === undefined) return null
  return (
    <Snippet title="Open a session from a shell" text={commandsOf(window.location.origin, currency)}>
      <p>
        Put a {environment} key and its secret into <code>PITBOSS_KEY</code> and <code>PITBOSS_SECRET</code>.
        The first command asks for a token, the second opens a session. The player plays at the{' '}
        <code>launch_url</code> of the answer: open it in a browser.
      </p>
    </Snippet>
  )
}

/** The secret comes on standard input, so that no list of processes shows it. */
function commandsOf(origin: string, currency: string): string {
  const player = JSON.stringify({ player_id: 'first-player', game: 'dice', currency })
  return [
    `PITBOSS_TOKEN=$(printf '{"api_key":"%s","api_secret":"%s"}' "$PITBOSS_KEY" "$PITBOSS_SECRET" |`,
    `  curl --silent --request POST '${origin}/v1/auth/token' \\`,
    `    -H 'content-type: application/json' --data @- |`,
    `  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    `curl --silent --request POST '${origin}/v1/sessions' \\`,
    `  -H "authorization: Bearer $PITBOSS_TOKEN" \\`,
    `  -H 'content-type: application/json' \\`,
    `  --data-raw '${player}'`,
  ].join('\n')
}
