import colors from 'picocolors'
import type { Stack } from './start-stack.ts'

/** Table of what a person needs first: addresses, logins, the place of the secrets, the next command. */
export function stackTable({ baseUrl, dataDir, demo, engines }: Stack): string {
  const rows: [string, string][] = [
    ['API', baseUrl],
    ['API reference', `${baseUrl}/v1/public/docs`],
    ['Verify a round', `${baseUrl}/v1/public/verify`],
    ...(demo === null
      ? [['Operator', 'none yet: npm run ops -- operator create --name "…" --email …'] as [string, string]]
      : ([
          ['Dashboard login', `${demo.dashboard.email}  ${demo.dashboard.password}`],
          ['Test key', `${demo.test.api_key}  (secret in demo.json)`],
          ['Live key', `${demo.live.api_key}  (secret in demo.json)`],
          ['Sandbox wallet', `${demo.wallet.url}/sandbox`],
          ['Live wallet', `${demo.live_wallet.url}/sandbox`],
          ['Webhook receiver', new URL('/demo', demo.receiver.url).href],
          ['All of this', `${dataDir}/demo.json`],
        ] as [string, string][])),
    ['Engines', `MongoDB: ${engines.mongodb.kind}, NATS: ${engines.nats.kind}`],
  ]
  const lines = rows.map(([name, value]) => `  ${colors.dim(name.padEnd(17))} ${value}`)
  return `\n${colors.bold('Pitboss is ready.')}\n${lines.join('\n')}\n\n  See it play:      npm run demo        (in a second terminal)\n  End it:           Ctrl-C\n\n`
}
