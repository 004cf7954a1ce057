import { createConfig, lintFromString } from '@redocly/openapi-core'
import openapiTS, { astToString } from 'openapi-typescript'
import t from 'tap'
import { buildOpenApi } from '../../src/openapi/build-openapi.ts'
import { routeTable } from '../../src/routes/route-table.ts'

const text = JSON.stringify(buildOpenApi(routeTable, 'https://api.pitboss.test'))

await t.test('a generated client has a named type for each public object', async (t) => {
  const client = astToString(await openapiTS(text))
  const objects = ['Session', 'Round', 'Transaction', 'Event', 'Webhook', 'Delivery', 'Credential', 'FreeBet']
  for (const name of [
    ...objects,
    'Game',
    'Wallet',
    'User',
    'Business',
    'Brand',
    'Replay',
    'Token',
    'Error',
  ]) {
    t.match(client, new RegExp(`^ {8}${name}: `, 'm'), `${name} is a type`)
  }
  t.match(client, /"application\/json": components\["schemas"\]\["LaunchedSession"\]/)
  t.match(client, /data: components\["schemas"\]\["Round"\]\[\]/)
})

await t.test(
  'redocly finds nothing to say about the description but that the root only leads elsewhere',
  async (t) => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
    t.strictSame(
      problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`),
      // The root has no answer of its own: it leads to the dashboard.
      ['operation-2xx-response #/paths/~1/get/responses'],
    )
  },
)
