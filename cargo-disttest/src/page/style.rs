//! How the page looks: light and dark by the reader's choice, and on paper.

pub(super) const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8886;--soft:#5f6368;--pass:#1b6e20;--fail:#b3261e;--doubt:#8a5000;--none:#5f6368;\
--ok:#4263eb;--band:#f59f0026;--edge:#e08600}\
@media(prefers-color-scheme:dark){:root{--soft:#a8adb3;--pass:#81c784;--fail:#ff8a80;--doubt:#ffb74d;--none:#a8adb3;\
--ok:#91a7ff;--band:#f59f0033;--edge:#ffb74d}}\
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:1.5rem auto;padding:0 1rem}\
h1{font-size:1.5rem;margin:0}h2{font-size:1.25rem;margin:2rem 0 .5rem;overflow-wrap:anywhere}h3{font-size:1.05rem;\
margin:1.25rem 0 .25rem;overflow-wrap:anywhere}\
header p,.soft,footer{color:var(--soft)}footer{margin:3rem 0 1rem;border-top:1px solid var(--line)}\
nav{margin:.25rem 0}a{color:inherit}a:focus-visible,summary:focus-visible{outline:2px solid var(--ok);outline-offset:2px}\
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;\
border-bottom:1px solid var(--line)}thead th{font-weight:600}th .soft{font-weight:400}td.pass,td.fail,td.doubt,td.none{white-space:nowrap}\
.badge{border:1.5px solid;border-radius:1em;padding:0 .6em;font-weight:600;white-space:nowrap;font-size:.9em}\
.pass{color:var(--pass)}.fail{color:var(--fail)}.doubt{color:var(--doubt)}.none{color:var(--none)}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:.6rem;border:1px solid var(--line);border-radius:6px;\
font:13px/1.5 ui-monospace,monospace}\
figure{margin:.75rem 0}figcaption{color:var(--soft);font-size:.9rem}\
svg{display:block;width:100%;height:auto}svg text{font:11px ui-monospace,monospace;fill:CanvasText}\
.picture{overflow-x:auto;border:1px solid var(--line);border-radius:6px}.picture svg{width:auto}\
.ok{stroke:var(--ok)}.failed{stroke:var(--none)}.unknown{stroke:var(--doubt)}.hit{stroke:var(--fail)}\
.band{fill:var(--band)}.edge{stroke:var(--edge);stroke-width:1}.axis{stroke:var(--line)}\
.curve{fill:none;stroke-width:1.5}.l1{opacity:.25}.l2{opacity:.5}.l3{opacity:.75}\
.key b{font-weight:600}.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(20rem,1fr));gap:.75rem}\
.op{fill:#4263eb2e;stroke:var(--ok)}.lane{stroke:var(--line)}rect.unknown{stroke-dasharray:5 4}rect.failed{opacity:.45}\
rect.witness{fill:#b3261e22;stroke:var(--fail);stroke-width:2.5}\
@media print{details{display:block}details>*{display:block}body{max-width:none}figure,tr{break-inside:avoid}}";
