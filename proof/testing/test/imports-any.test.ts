import { join } from 'node:path'
import t from 'tap'
import { importsAny } from '../src/imports-any.ts'

const engines = /with-engines\.ts$/

await t.test(
  'a file that imports a module, itself or through a file that it imports or starts, does; another does not',
  async (t) => {
    const folder = t.testdir({
      'pure.test.ts': "import t from 'tap'\nimport { x } from './x.ts'\nnew URL('..', import.meta.url)",
      'x.ts': 'export const x = 1',
      'direct.test.ts': "import { withEngines } from '../src/with-engines.ts'",
      'through.test.ts': "import { service } from './fixtures/service.ts'",
      'started.test.ts': "spawn(process.execPath, [new URL('./fixtures/service.ts', import.meta.url)])",
      fixtures: {
        'service.ts': "import { withEngines } from '../src/with-engines.ts'\nimport '../through.test.ts'",
      },
    })
    t.equal(importsAny(join(folder, 'pure.test.ts'), engines), false)
    t.equal(importsAny(join(folder, 'direct.test.ts'), engines), true)
    t.equal(importsAny(join(folder, 'through.test.ts'), engines), true)
    t.equal(importsAny(join(folder, 'started.test.ts'), engines), true)
  },
)
