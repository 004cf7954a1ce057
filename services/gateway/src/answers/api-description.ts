import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '@pitboss/errors/service-error'
import type { AnswerDeps, Handler } from '../http/inbound.ts'
import { buildOpenApi } from '../openapi/build-openapi.ts'
import { createStaticFiles, fileAnswer, ownWindow, pagePolicy } from './pages.ts'

/** Files that the page loads, all from this gateway. */
const assets = new Set(['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'])

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pitboss API</title>
<link rel="icon" type="image/png" href="/v1/public/docs/favicon-32x32.png">
<link rel="stylesheet" href="/v1/public/docs/swagger-ui.css">
</head>
<body>
<main id="docs"></main>
<script src="/v1/public/docs/swagger-ui-bundle.js"></script>
<script src="/v1/public/docs/start.js"></script>
</body>
</html>
`

const start = `window.ui = SwaggerUIBundle({
  url: '/v1/public/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: -1,
  docExpansion: 'none',
  validatorUrl: null,
})
`

const headers = {
  'cache-control': 'no-cache',
  'content-security-policy': `${pagePolicy}; frame-ancestors 'none'`,
  ...ownWindow,
} as const

/** `GET /v1/public/openapi.json`, written at the first request. */
export function createOpenApi({ routes, baseUrl }: AnswerDeps): Handler {
  let text: string | null = null
  return async () => {
    text ??= JSON.stringify(buildOpenApi(routes, baseUrl))
    const cached = { 'cache-control': 'public, max-age=60' }
    return { status: 200, headers: cached, content: { type: 'application/json; charset=utf-8', data: text } }
  }
}

/** `/v1/public/docs`: the OpenAPI description as a page; its files are part of this installation. */
export function createDocs(): Handler {
  const module = fileURLToPath(import.meta.resolve('@fastify/swagger-ui'))
  const files = createStaticFiles(join(dirname(module), 'static'))
  return async ({ params, raw }) => {
    const name = params['*'] ?? ''
    if (name === '') {
      return { status: 200, headers, content: { type: 'text/html; charset=utf-8', data: page } }
    }
    if (name === 'start.js') {
      return { status: 200, headers, content: { type: 'text/javascript; charset=utf-8', data: start } }
    }
    if (!assets.has(name)) throw new ServiceError('NOT_FOUND')
    return fileAnswer(files, name, { frameAncestors: "'none'", headers: raw.headers })
  }
}
