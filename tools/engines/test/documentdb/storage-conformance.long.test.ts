import t from 'tap'
import { storageCases } from './fixtures/cases/storage.ts'
import { startServers } from './fixtures/servers.ts'
import { withContext } from './fixtures/with-context.ts'

for (const { kind, url } of await startServers(t)) {
  await t.test(`${kind}: what the services rely on`, async (t) => {
    for (const { name, run } of storageCases) await t.resolves(withContext(url, run), name)
  })
}
