import './api/no-eval.ts'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { ApiError } from './api/api-error.ts'
import { App } from './app.tsx'
import { createSession } from './session/create-session.ts'
import './styles/dashboard.css'

const repeatsMax = 2
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 3000,
      retry: (failures, error) => failures < repeatsMax && error instanceof ApiError && error.retryable,
      retryDelay: (failures, error) =>
        ((error instanceof ApiError ? error.retryAfterS : null) ?? 2 ** failures) * 1000,
    },
  },
})
const session = createSession()
const place = document.getElementById('app')
if (place === null) throw new Error('the page has no place for the app')

void session.start()
createRoot(place).render(
  <CSPProvider disableStyleElements>
    <QueryClientProvider client={queries}>
      <Router base="/dashboard">
        <App session={session} />
      </Router>
    </QueryClientProvider>
  </CSPProvider>,
)
