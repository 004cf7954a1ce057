import './styles/base.css'
import './styles/play.css'
import { render } from 'preact'
import { takeLaunchToken } from './api/launch-token.ts'

takeLaunchToken()
const root = document.getElementById('app')
if (root === null) throw new Error('the page has no place for its text')
render(
  <main class="notice-page">
    <h1>There is no such game here</h1>
    <p>Open a game again from your casino.</p>
  </main>,
  root,
)
