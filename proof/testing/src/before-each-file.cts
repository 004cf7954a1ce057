/**
 * Loaded before each test file; takes two costs of tap away that our tests have no use for.
 *
 * The processes that a test starts are left alone: tap would have them record every file that they load, for
 * coverage, which is off here; a service takes three times as long to start that way.
 *
 * An error outside all of a test's awaits is told to the test that runs (error-domain.ts). tap would follow
 * every promise to find the test that made it, which costs up to two thirds of the processor time of a test.
 */
process.env.__TAPJS_PROCESSINFO_TESTING_NO_REGISTER__ = String(process.pid)

const { registerHooks } = require('node:module') as typeof import('node:module')
const { pathToFileURL } = require('node:url') as typeof import('node:url')

const errorDomain = pathToFileURL(require.resolve('./error-domain.ts')).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'async-hook-domain'
      ? { url: errorDomain, shortCircuit: true }
      : next(specifier, context),
})
