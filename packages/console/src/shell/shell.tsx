/** The frame of every page: navigation, the queue, the connection, the dialogs. */
import type { Approval, BreakerView, QueueSummary } from '@daybook/client'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { address, go, linkTo, momentShown, queueShown, withQuery } from '../address/address.js'
import { matchPath, parsePath } from '../address/url.js'
import { logOut, may, me, tenantAsked, tenantsOfToken } from '../api/session.js'
import { leftOvers, useQuestion, useQueue } from '../api/use-query.js'
import { canShow, type Page, pages } from '../pages/pages.js'
import { ActionDialog, Notice } from '../parts/action.js'
import { shortNumber } from '../parts/format.js'
import { useMomentTime } from '../parts/moment-time.js'
import { TimeBar } from '../time/time-bar.js'
import { Connection, LostBanner, PastBanner } from './connection.js'
import { KeysDialog, showKeys, useKeys } from '../parts/keys.js'
import { nextTheme, theme } from '../parts/theme.js'

const isOfQueue = ({ path }: Page): boolean => path.startsWith('/q/{queue}')
const addressOf = ({ path }: Page, queue: string): string => linkTo(parsePath(path).map((segment) => (segment === '{queue}' ? queue : segment)))

/** What waits for somebody, by path of the page. Not of past moments, and not for a token for tenants, which may not ask. */
const useCounts = (queue: string | undefined): Readonly<Record<string, number>> => {
  const when = queue !== undefined && may.seeAll.value && momentShown.value === undefined
  const { value: summary } = useQueue<QueueSummary>(queue ?? '', [], { when })
  const { value: breakers } = useQueue<{ readonly breakers: Readonly<Record<string, BreakerView>> }>(queue ?? '', ['breakers'], { when })
  const { value: approvals } = useQueue<{ readonly approvals: ReadonlyArray<Approval> }>(queue ?? '', ['approvals'], { when })
  return {
    '/q/{queue}/dead-letters': summary?.byStatus['dead-letter'] ?? 0,
    '/q/{queue}/breakers': Object.values(breakers?.breakers ?? {}).filter(({ state }) => state !== 'closed').length,
    '/q/{queue}/approvals': approvals?.approvals.length ?? 0,
  }
}

const NavLink = ({ page, queue, count = 0 }: { readonly page: Page; readonly queue: string; readonly count?: number | undefined }) => {
  const { path } = address.value
  const isAlone = page.path === '/' || page.path === '/q/{queue}'
  const isHere = matchPath(page.path, path) !== undefined || (!isAlone && path.startsWith(addressOf(page, queue).replace(/\?.*/, '') + '/'))
  return <li><a href={addressOf(page, queue)} aria-current={isHere ? 'page' : undefined}>{page.title}{count > 0 && <> <span class="count">{shortNumber(count)}</span></>}</a></li>
}

interface KnownQueues {
  readonly names: ReadonlyArray<string>
  /** The queue of the address was never used: nothing has created it yet. */
  readonly isUnused: boolean
}

const useQueues = (shown: string | undefined): KnownQueues => {
  const { value } = useQuestion<{ readonly queues: ReadonlyArray<QueueSummary> }>({ path: '/api/queues', everyMs: 30_000 })
  const listed = value?.queues.map(({ name }) => name) ?? []
  // The list is of half a minute ago, so a queue that it does not have is asked for.
  const isUnlisted = value !== undefined && shown !== undefined && !listed.includes(shown)
  const { value: summary } = useQueue<QueueSummary>(shown ?? '', [], { presentOnly: true, when: isUnlisted && may.seeAll.value })
  const isUnused = isUnlisted && summary !== undefined && summary.revision < 0
  return { names: [...new Set([...listed, ...(shown === undefined || isUnused ? [] : [shown])])].sort(), isUnused }
}

/** Above every page of a queue that does not exist yet, because the page itself looks like that of an empty queue. */
const NeverUsed = ({ queue, names }: { readonly queue: string; readonly names: ReadonlyArray<string> }) => (
  <p class="banner" role="status">
    <span>The queue <strong>{queue}</strong> was never used: its first task or setting creates it.</span>{' '}
    {names.length === 0 ? <span>There are no queues yet.</span> : <span>The queues there are: {names.map((name, i) => <span key={name}>{i > 0 && ', '}<a href={linkTo(['q', name, 'tasks'])}>{name}</a></span>)}.</span>}
  </p>
)

const QueueChoice = ({ shown, known: { names, isUnused } }: { readonly shown: string | undefined; readonly known: KnownQueues }) => {
  if (names.length === 0) return null
  const choose = (queue: string): void => {
    const ofQueue = pages.filter((each) => isOfQueue(each) && canShow(each))
    const page = ofQueue.find((each) => matchPath(each.path, address.value.path) !== undefined) ?? ofQueue[0]
    if (queue !== '' && page !== undefined) go(addressOf(page, queue))
  }
  return (
    <label class="queue-choice">
      <span class="hidden">Queue</span>
      <select value={isUnused ? '' : (shown ?? '')} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="" disabled>choose a queue …</option>
        {names.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  )
}

/** In the place of the time slider, on every page. */
const OwnTasksOnly = () => (
  <footer class="quiet small">You see the tasks of {tenantsOfToken.value?.join(' and ')} alone. What is about whole queues (agents, breakers, settings, reports, the log, the past) is not shown to a token for tenants.</footer>
)

/** Lists are of one tenant at a time. */
const TenantChoice = () => {
  const tenants = tenantsOfToken.value ?? []
  if (tenants.length < 2) return null
  return (
    <label class="queue-choice">
      <span class="hidden">Tenant</span>
      <select value={tenantAsked.value} onChange={(event) => go(withQuery({ tenant: event.currentTarget.value }))}>
        {tenants.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  )
}

/** On a phone the navigation scrolls sideways: the link of the page that is shown comes into view. */
const showActiveLink = (): void => {
  const nav = document.querySelector<HTMLElement>('.shell nav')
  const link = nav?.querySelector('[aria-current="page"]')
  if (nav === null || link === null || link === undefined) return
  nav.scrollLeft += link.getBoundingClientRect().left - nav.getBoundingClientRect().left - (nav.clientWidth - link.clientWidth) / 2
}

export const Shell = ({ children }: { readonly children: ComponentChildren }) => {
  const queue = queueShown.value
  const known = useQueues(queue)
  const counts = useCounts(queue)
  const isLeftOver = leftOvers.value > 0
  useMomentTime()
  useEffect(showActiveLink, [address.value.path, known.names.length])
  useKeys([
    { keys: '?', does: 'show the keys of this page', run: showKeys },
    { keys: '/', does: 'go to the search', run: () => document.querySelector<HTMLElement>('[data-search]')?.focus() },
    ...pages.filter(canShow).flatMap((page) => (page.key === undefined ? [] : [{ keys: `g ${page.key}`, does: `go to ${page.title}`, run: () => (isOfQueue(page) ? queueShown.value !== undefined && go(addressOf(page, queueShown.value)) : go(addressOf(page, ''))) }])),
  ])
  const listed = pages.filter((page) => page.isListed !== false && canShow(page))
  return (
    <div class={`shell${momentShown.value === undefined ? '' : ' past'}`}>
      <a class="skip" href="#main">Skip to the content</a>
      <header>
        <a class="brand" href={linkTo([])}>Daybook</a>
        <nav aria-label="Pages">
          <ul>{listed.filter((page) => !isOfQueue(page)).map((page) => <NavLink key={page.path} page={page} queue="" />)}</ul>
          <QueueChoice shown={queue} known={known} />
          <TenantChoice />
          {queue !== undefined && <ul>{listed.filter(isOfQueue).map((page) => <NavLink key={page.path} page={page} queue={queue} count={counts[page.path]} />)}</ul>}
        </nav>
        <div class="account">
          <Connection />
          <button type="button" class="plain" onClick={nextTheme} title="light or dark">{{ system: 'Auto', light: 'Light', dark: 'Dark' }[theme.value]}</button>
          <button type="button" class="plain" onClick={showKeys} aria-label="keys">?</button>
          {me.value?.auth === 'tokens' && <span class="quiet" title={me.value.roles.join(', ')}>{me.value.name}{tenantsOfToken.value !== undefined && `, for ${tenantsOfToken.value.join(' and ')}`}</span>}
          {me.value?.auth === 'tokens' && <button type="button" class="plain" onClick={() => logOut('')}>Log out</button>}
        </div>
      </header>
      <div class="content">
        <LostBanner />
        {may.seeAll.value && <PastBanner />}
        <Notice />
        {queue !== undefined && known.isUnused && <NeverUsed queue={queue} names={known.names} />}
        <main id="main" tabIndex={-1} aria-busy={isLeftOver} inert={isLeftOver}>{children}</main>
        {may.read.value && (may.seeAll.value ? <TimeBar /> : <OwnTasksOnly />)}
      </div>
      <ActionDialog />
      <KeysDialog />
    </div>
  )
}
