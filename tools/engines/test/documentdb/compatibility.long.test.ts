import t from 'tap'
import { aggregationCases } from './fixtures/cases/aggregation.ts'
import { changeStreamCases } from './fixtures/cases/change-stream.ts'
import { crudCases } from './fixtures/cases/crud.ts'
import { findAndModifyCases } from './fixtures/cases/find-and-modify.ts'
import { indexCases } from './fixtures/cases/indexes.ts'
import { queryCases } from './fixtures/cases/query.ts'
import { transactionCases } from './fixtures/cases/transaction.ts'
import { updateCases } from './fixtures/cases/update.ts'
import { startServers } from './fixtures/servers.ts'
import { withContext } from './fixtures/with-context.ts'

const groups = {
  crud: crudCases,
  query: queryCases,
  update: updateCases,
  'find and modify': findAndModifyCases,
  index: indexCases,
  transaction: transactionCases,
  'change stream, capped and TTL': changeStreamCases,
  aggregation: aggregationCases,
}
const casesMin = 129
const passedMin = 123

const servers = await startServers(t)

await t.test('the suite keeps its size and names every difference', async (t) => {
  const cases = Object.values(groups).flat()
  t.ok(cases.length >= casesMin, `${cases.length} cases`)
  const differing = cases.filter(({ differs }) => differs !== undefined)
  t.ok(cases.length - differing.length >= passedMin, `${differing.length} differences`)
})

for (const { kind, url } of servers) {
  for (const [group, cases] of Object.entries(groups)) {
    await t.test(`${kind}: ${group}`, async (t) => {
      await withContext(url, async (context) => {
        for (const { name, differs, run } of cases) {
          if (kind === 'documentdb' && differs !== undefined) {
            await t.rejects(run(context), `${name} differs: ${differs}`)
          } else await t.resolves(run(context), name)
        }
      })
    })
  }
}
