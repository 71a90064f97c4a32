// Facts about report.html, seen by a browser. Called by scripts/check-report.

const { chromium } = require('playwright-core');
const assert = require('assert');
const [executablePath, page, shots] = process.argv.slice(1);

const VIEWS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  { name: 'narrow', colorScheme: 'light', viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true },
  { name: 'narrow-dark', colorScheme: 'dark', viewport: { width: 320, height: 640 } },
];
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

// Runs in the page.
function look() {
  const light = color => {
    const parts = color.match(/[\d.]+/g).slice(0, 3).map(x => x / 255);
    const linear = parts.map(x => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const backOf = element => {
    for (let e = element; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (!/rgba\(.*, 0\)|transparent/.test(color)) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const contrast = element => {
    const style = getComputedStyle(element);
    const [a, b] = [light(element instanceof SVGElement ? style.fill : style.color), light(backOf(element))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const texts = [...document.querySelectorAll('h1, h2, h3, p, dt, dd, small, th, td, li, figcaption, summary, .badge, .num, text')];
  const all = [...document.querySelectorAll('main *')];
  const wide = document.documentElement.clientWidth;
  const scrolls = element => element.closest('.scroll, pre, svg');
  return {
    text: document.body.innerText,
    overflow: document.documentElement.scrollWidth - wide,
    beyond: all.filter(e => e.getBoundingClientRect().right > wide + 0.5 && !scrolls(e)).map(e => e.outerHTML.slice(0, 80)),
    faint: texts.filter(e => e.textContent.trim() && contrast(e) < 4.5).map(e => `${contrast(e).toFixed(2)} ${e.outerHTML.slice(0, 80)}`),
    pictures: [...document.images].map(i => ({ alt: i.alt, width: i.naturalWidth, done: i.complete })),
    plots: [...document.querySelectorAll('svg')].map(s => ({
      label: s.getAttribute('aria-label'), role: s.getAttribute('role'), height: s.getBoundingClientRect().height,
      curves: s.querySelectorAll('.line, .area').length,
    })),
    paper: getComputedStyle(document.body).backgroundColor,
    brightness: light(getComputedStyle(document.body).backgroundColor),
    title: document.title, language: document.documentElement.lang, headings: document.querySelectorAll('h1').length,
  };
}

async function check(browser, view) {
  const { name, ...options } = view;
  const context = await browser.newContext(options);
  const tab = await context.newPage();
  const complaints = [];
  tab.on('console', message => complaints.push(message.text()));
  tab.on('pageerror', error => complaints.push(String(error)));
  tab.on('request', request => {
    if (!/^(file|data):/.test(request.url())) complaints.push(`asks for ${request.url()}`);
  });
  await tab.goto(`file://${page}`);
  await tab.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
  const seen = await tab.evaluate(look);
  assert.deepStrictEqual(complaints, [], 'the console is silent and nothing is fetched');
  assert.ok(seen.overflow <= 0, `the page is ${seen.overflow} px too wide`);
  assert.deepStrictEqual(seen.beyond, [], 'nothing sticks out');
  assert.deepStrictEqual(seen.faint, [], 'text has a contrast of 4.5 at least');
  for (const part of ['Shapes of every kind', 'done', 'What was expected', 'penetration', 'holds', 'Energy', 'Time per frame', 'Where it comes from', 'thirdlaw 0.', 'hash']) {
    assert.ok(seen.text.includes(part), `"${part}" is on the page`);
  }
  assert.ok(seen.pictures.length >= 6);
  for (const picture of seen.pictures) {
    assert.ok(picture.done && picture.width >= 320 && picture.alt.length > 10, JSON.stringify(picture));
  }
  assert.ok(seen.plots.length >= 6);
  for (const plot of seen.plots) {
    assert.ok(plot.role === 'img' && plot.label && plot.height > 90 && plot.curves > 0, JSON.stringify(plot));
  }
  assert.ok(view.colorScheme === 'dark' ? seen.brightness < 0.05 : seen.brightness > 0.8, seen.paper);
  assert.strictEqual(seen.language, 'en');
  assert.strictEqual(seen.headings, 1);
  assert.ok(seen.title.includes('Shapes'));
  await tab.click('summary >> text=Scene file');
  assert.ok((await tab.innerText('pre')).includes('[bodies.crate]'), 'the scene file opens');
  assert.ok((await tab.evaluate(look)).overflow <= 0, 'also with the scene file open');
  await context.close();
}

(async () => {
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  let failed = 0;
  for (const view of VIEWS) {
    try {
      await check(browser, view);
      console.log(`report, ${view.name}: ok`);
    } catch (error) {
      failed += 1;
      console.log(`report, ${view.name}: FAILED\n${error.stack}`);
    }
  }
  await browser.close();
  console.log(`${VIEWS.length - failed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
})();
