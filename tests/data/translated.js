"use strict";
const it = (($) => {
class Base extends $.Struct{
static fields=["name","size"];
static defaults={size:3};
}
class Part extends Base{
static fields=["name","size","share","inside"];
static defaults={size:3,share:0.5,inside:[]};
get text() {
const self = this;
let size;
size=$.add(self.size,1);
return `${$.text(self.name)} of ${$.format(size, `d`)}`;
}
}
class Pair extends $.NamedTuple{
static fields=["left","right"];
static defaults={right:7};
}
const _TIME = $.pattern("([0-9]+(?:[.][0-9]+)?) *([a-z]*)");
function key(one){
return $.at(one,1);
}
function told(default_,function_="f",last=false){
if($.compare(default_,1)>0){
return `${$.text(function_)}${$.format(default_, `d`)}\`\${}\\`;
}
else {
if($.truth(last)){
return "last";
}
else {
}
}
return "none";
}
const kept = $.cached(function kept(number,by=2){
return $.mul(number,by);
});
const translated_all_new = 5;
const NEEDS = ["x","y","z"];
const SOME = NEEDS.slice(undefined,2);
const USUAL = $.dict([["a",1],["b",null]]);
function loops(most){
let a,b,count,counts,found,index,one,total;
found=[];
count=total=0;
while($.truth(true)){
count=$.add(count,1);
if($.mod(count,2)===0){
continue;
}
if($.compare(count,most)>0){
break;
}
for([index,[a,b]] of $.enumerate([[1,2],[3,4]],{start:count})){
$.methods.append(found,[index,$.add(a,b)]);
total=$.add(total,a);
}
}
counts=$.dict([]);
for(one of "abcab"){
$.put(counts,one,$.add($.methods.get(counts,one,0),1));
}
$.put(counts,"c",$.add($.at(counts,"c"),10));
function inner(x){
return $.add(x,total);
}
return [found,total,$.list($.methods.items(counts)),inner(1)];
}
function truths(){
let values;
values=[0,0.0,1,"","x",[],[0],$.dict([]),$.dict([["a",1]]),$.set(),$.set([1]),null,true,false,[]];
return [Array.from(values, (one)=>($.truth(one)?"t":"f")),Array.from([0,3,""], (one)=>$.or(one, ()=>5)),Array.from([0,3], (one)=>$.and(one, ()=>5)),Array.from(values, (one)=>!($.truth(one))),$.any(values),$.all(values),$.truth([]),$.any(Array.from([1,2], (v)=>$.compare(v,2)>0))];
}
function comparisons(){
let part,same;
[part,same]=[new Part({name:"n",inside:[[1,2]]}),new Part({name:"n",size:3,share:0.5,inside:[[1,2]]})];
return [$.same(part,same),!$.same(part,$.replace(same, {size:4})),part===same,$.same([1,[2]],[1,[2]]),$.same($.set(["a","b"]),$.set(["b","a"])),$.same($.dict([["a",[1]]]),$.dict([["a",[1]]])),($.compare(1,2)<0&&$.compare(2,2)<=0&&$.compare(2,3)<0),$.compare([1,"b"],[1,"c"])<0,$.compare([2],[1,9])>0,$.compare("a","b")<0,null===null,$.has(NEEDS,"x"),!$.has(NEEDS,"q"),$.has($.set([1,2]),2),$.has($.dict([["a",1]]),"a"),$.has("hello","ell"),$.has([[1,2]],[1,2]),1===1.0,$.same(new Pair({left:1}),new Pair({left:1,right:7})),$.add(true,true),$.and($.same(part.size,same.size), ()=>part!==null)];
}
function every(){
let a,b,c,d,first,half,least,match,name,number,one,pairs,part,rest,seen,states,which;
part=new Part({name:"a",...$.fields($.dict([["size",2]]))});
[first,...rest]=[3,1,2];
[[a,[b,c]],d]=[[1,[2,3]],4];
pairs=[["p",2],["q",1],["r",2]];
seen=$.dict([]);
for([name,number] of pairs){
$.methods.append($.methods.setdefault(seen,number,[]),name);
}
states=$.dict([[new Pair({left:1,right:2}),1.0],[new Pair({left:1,right:3}),2.0]]);
$.put(states,new Pair({left:1,right:2}),$.add($.methods.get(states,new Pair({left:1,right:2}),0.0),0.5));
match=$.methods.fullmatch(_TIME,"12.5 min");
least=$.extreme(pairs, -1,{key:key});
one=$.add("a","b");
return [part.text,part.share,[part.name,part.size],new Part({name:"b"}).inside,told(2),told(1,undefined,true),told(0,"g"),first,rest,a,b,c,d,-(d),($.truth(d)?1:2),$.floordiv(7,2),$.floordiv(-(7),2),$.mod(7,3),$.mod(-(7),3),$.divmod(7,2),$.div(7,2),$.bitor(6,1),$.same($.bitor($.set(["a"]),$.set(["a"])),$.set(["a"])),$.len(pairs),$.len("four"),$.len(seen),$.list($.methods.items(seen)),Array.from(seen, (n)=>n),$.list($.methods.keys(seen)),$.list($.methods.values(seen)),Array.from($.methods.items(states), ([k,v])=>[...k,v]),$.at(match,1),$.at(match,2),$.methods.fullmatch(_TIME,"x")===null,$.at($.methods.fullmatch(_TIME,"7"),2),least,$.extreme([4,9,2], 1),$.extreme([1,2.5], 1),$.extreme([], -1,{default:3}),$.extreme(pairs, 1,{key:((p)=>[$.at(p,1),$.at(p,0)])}),$.sorted(pairs,{key:key}),$.sorted([3,1,2]),Array.from($.range(1,3)).flatMap((x)=>Array.from($.range(x,4)).flatMap((y)=>!$.same(x,y)?[$.mul(x,y)]:[])),$.same($.set(Array.from($.range(1), (x)=>$.mod(x,2))),$.set([0])),$.list($.methods.items($.dict(Array.from($.range(3), (x)=>[x,$.add(x,1)])))),$.sum(Array.from([1,2], (x)=>x)),kept(4),kept(4,3),translated_all_new,$.list($.zip([1,2],"ab")),$.list($.Dict.fromkeys("abca")),$.list($.methods.items($.dict($.zip("ab",[1,2])))),$.list($.pairwise([1,2,3])),$.list($.range(3)),$.int("12"),$.int(3.7),$.float("2.5"),$.compare($.float("inf"),1e+300)>0,$.str(5),Math.ceil(1.2),Math.ceil(2),$.comb(7,3),Math.abs(-(2)),$.compare(Infinity,0)>0,$.methods.strip(" x "),$.methods.join(",",["a","b"]),$.methods.lower("Ab"),$.methods.upper("ab"),$.methods.replace("a.a",".","$&"),$.methods.startswith("abc","ab"),$.methods.index(NEEDS,"y"),SOME,"hello".slice(1,3),$.at([1,2,3],-(1)),$.repeat([0.5],3),[...rest,first],$.list($.methods.items($.dict([["b",2],...$.dict([["c",3]]).items()]))),$.at(USUAL,"b"),$.list([1]),[...seen],$.add((half=0.5),half),Array.from([1,-(1)]).flatMap((x)=>$.truth((which=($.compare(x,0)>0?"up":"")))?[which]:[]),one,$.list(new Pair({left:1,right:2})),$.replace(new Pair({left:1}), {right:9}),Array.from([new Pair({left:1,right:2})], ([left,right])=>$.add(left,right)),loops(4),truths(),comparisons(),`${$.format(1234.5, `,.1f`)} ${$.format(2.5, `.0f`)} ${$.format(0.125, `.2f`)} ${$.format(12, `d`)} ${$.format($.add(0.1,0.2), `.${d}f`)} ${$.format(1e-05, `g`)} ${$.format(123456789.0, `.3g`)} ${$.text("text")}`];
}
return { every };
})(python);
